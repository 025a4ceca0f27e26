import type { eventTypes, platformEventTypes } from '../../../src/events/contract.ts'
import { type Language, useLanguage } from '../language/index.ts'

type KnownType = (typeof eventTypes)[number] | (typeof platformEventTypes)[number] | 'test'

/** Every type of event in words: one that is missing is a type error. */
const words: Record<KnownType, Record<Language, string>> = {
  'site.created': { en: 'Site created', zh: '新建站点' },
  'site.updated': { en: 'Site changed', zh: '修改站点' },
  'site.deleted': { en: 'Site deleted', zh: '删除站点' },
  'device.bound': { en: 'Device bound', zh: '绑定设备' },
  'device.updated': { en: 'Device changed', zh: '修改设备' },
  'device.unbound': { en: 'Device unbound', zh: '解绑设备' },
  'device.transferred': { en: 'Device transferred', zh: '转移设备' },
  'device.stateChanged': { en: 'Device state changed', zh: '设备状态变化' },
  'billingRule.created': { en: 'Billing rule created', zh: '新建计费规则' },
  'billingRule.updated': { en: 'Billing rule changed', zh: '修改计费规则' },
  'billingRule.deleted': { en: 'Billing rule deleted', zh: '删除计费规则' },
  'application.online': { en: 'Application taken online', zh: '应用上线' },
  'application.offline': { en: 'Application taken offline', zh: '应用下线' },
  'application.frozen': { en: 'Application frozen', zh: '冻结应用' },
  'application.unfrozen': { en: 'Application unfrozen', zh: '解冻应用' },
  'thirdPartyConfig.saved': { en: 'Third-party configuration saved', zh: '保存第三方配置' },
  'application.created': { en: 'Application created', zh: '新建应用' },
  'application.updated': { en: 'Application changed', zh: '修改应用' },
  'application.secretRotated': { en: 'Application secret rotated', zh: '轮换应用密钥' },
  'deviceModel.saved': { en: 'Device model saved', zh: '保存设备型号' },
  'deviceModel.deleted': { en: 'Device model deleted', zh: '删除设备型号' },
  'deviceInventory.imported': { en: 'Inventory imported', zh: '导入库存' },
  'deviceInventory.deleted': { en: 'Inventory entry deleted', zh: '删除库存条目' },
  'operator.created': { en: 'Account created', zh: '新建账号' },
  'operator.updated': { en: 'Account changed', zh: '修改账号' },
  'operator.deleted': { en: 'Account deleted', zh: '删除账号' },
  'operator.reset': { en: 'Account reset', zh: '重置账号' },
  'operatorKey.created': { en: 'Operator key created', zh: '新建运营密钥' },
  'operatorKey.deleted': { en: 'Operator key revoked', zh: '吊销运营密钥' },
  'operatorKey.handedOver': { en: 'Operator key handed over', zh: '移交运营密钥' },
  'operator.setUp': { en: 'Account set up', zh: '设置账号' },
  'operator.passwordChanged': { en: 'Password changed', zh: '修改密码' },
  'session.created': { en: 'Signed in', zh: '登录' },
  'session.refused': { en: 'Sign-in refused', zh: '登录被拒绝' },
  'session.locked': { en: 'Sign-in locked', zh: '登录已锁定' },
  'session.ended': { en: 'Session ended', zh: '会话结束' },
  'thirdPartyConfig.secretRotated': { en: 'Callback secret rotated', zh: '轮换回调密钥' },
  'delivery.replayed': { en: 'Deliveries replayed', zh: '重新投递' },
  'delivery.tested': { en: 'Callback tested', zh: '测试回调' },
  'site.erased': { en: 'People of deleted sites erased', zh: '清除已删除站点的个人信息' },
  'import.created': { en: 'Import begun', zh: '开始导入' },
  'import.cancelled': { en: 'Import cancelled', zh: '取消导入' },
  test: { en: 'Test', zh: '测试' },
}

/** The words of a type of event; a type that this console does not know yet by its own name. */
export function useTypeWords(): (type: string) => string {
  const language = useLanguage()
  return (type) => (Object.hasOwn(words, type) ? words[type as KnownType][language] : type)
}
