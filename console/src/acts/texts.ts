import { defineTexts } from '../language/index.ts'

/** The texts of acts on everything that matches. */
export const useTexts = defineTexts({
  one: ['Bulk action', '操作'],
  none: [
    'No bulk actions in the last 7 days. What is done to selected rows is in Events.',
    '近 7 天没有批量操作。对所选行的操作见“事件”。',
  ],
  week: [
    'Bulk actions and their results are kept for 7 days. To start one, filter the list of devices or sites by an application and choose “Bulk action on all…”.',
    '批量操作及其结果保留 7 天。在设备或站点列表中设好筛选后即可发起。',
  ],
  actTitle: ['Bulk action {{id}}: {{act}}', '操作 {{id}}：{{act}}'],
  allThatMatch: ['Bulk action on all {{count}}…', '批量操作全部 {{count}}…'],
  dialog_devices: ['All matching devices', '符合条件的全部设备'],
  dialog_sites: ['All matching sites', '符合条件的全部站点'],
  act: ['Action', '操作'],
  act_devices_transfer: ['Transfer devices', '转移设备'],
  act_devices_unbind: ['Unbind devices', '解绑设备'],
  act_devices_forceUnbind: ['Force unbind devices', '强制解绑设备'],
  act_devices_update: ['Update devices', '修改设备'],
  act_sites_update: ['Update sites', '修改站点'],
  act_sites_delete: ['Delete sites', '删除站点'],
  words_devices_transfer: [
    'Each device moves, with its data, to another application. It is removed from its site.',
    '每台设备整体转移到另一个在线应用，此后不安装在任何站点。',
  ],
  words_devices_unbind: [
    'Frees the serial numbers immediately. The ownership history is kept.',
    '立即释放这些设备序列号。归属记录保留在历史中。',
  ],
  words_devices_forceUnbind: [
    'Frees the serial numbers immediately, for the reason that you enter.',
    '按所填原因立即释放这些设备序列号。',
  ],
  words_devices_update: [
    'Sets this field on each device. Devices that already have the value don’t change.',
    '逐台设置该字段；已是该值的设备不变。',
  ],
  words_sites_update: [
    'Sets this field on each site. Sites that already have the value don’t change.',
    '逐个设置该字段；已是该值的站点不变。',
  ],
  words_sites_delete: [
    'Deletes the sites. Their devices stay with the application, without a site.',
    '删除这些站点。其设备仍属于该应用，此后不安装在任何站点。',
  ],
  value: ['New value', '新值'],
  valueNote: ['Leave empty to clear an optional field.', '选填字段留空即清除。'],
  counted: ['{{count}} {{count:matches|match}} now.', '当前有 {{count}} 条符合。'],
  countedNone: ['Nothing matches now.', '当前没有符合的数据。'],
  go: ['Apply to {{count}}', '处理这 {{count}} 条'],
  runsWhileYouRead: ['You can close this window. The bulk action keeps running.', '关闭此窗口后操作仍会继续。'],
  done: ['Changed', '已更改'],
  unchanged: ['Unchanged', '未变化'],
  rows: ['Matched', '符合条件'],
  kind: ['Type', '对象'],
  filter: ['Filter', '筛选条件'],
  everything: ['all', '全部'],
  set: ['Changes', '更改内容'],
  started: ['Started', '开始'],
  cancelVerb: ['Cancel bulk action', '取消操作'],
  cancelTitle: ['Cancel this bulk action?', '取消此操作？'],
  cancelWords: [
    'Changes already made are kept. The remaining rows are not changed.',
    '已更改的保持不变，其余各条不再处理。',
  ],
  cancelled: ['Bulk action cancelled.', '操作已取消。'],
  download: ['Download all (NDJSON)', '下载全部（NDJSON）'],
  subject: ['Device or site', '对象'],
  showAct: ['View bulk action', '查看操作'],
  needsApplication: [
    'Choose one application in the filter first. To change rows of several applications, select them.',
    '请先选择一个应用，再对符合条件的全部数据进行操作。',
  ],
})
