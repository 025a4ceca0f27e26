import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts({
  hint: [
    'Paste rows from a spreadsheet, CSV, or one serial number per line. With a header row, columns can be in any order. Without one, the order is {{columns}}.',
    '粘贴表格行、CSV，或每行一个设备序列号。带表头时列的顺序不限；不带表头时依次为 {{columns}}。',
  ],
  ignored: ['Unknown columns were skipped: {{columns}}.', '已忽略无法识别的列：{{columns}}。'],
  tooMany: [
    '{{count}} rows is too many; the limit is {{most}}. Import larger lists as a file.',
    '共 {{count}} 行，一次最多 {{most}} 行。更多数据请以文件导入。',
  ],
  forEmpty: ['Default values for empty cells', '留空时使用的值'],
  namePattern: ['{deviceNo} is replaced by the serial number.', '{deviceNo} 代表设备序列号。'],
  show: ['Preview', '显示表格'],
  back: ['Back to text', '返回文本'],
  stage_all: ['All ({{count}})', '全部 {{count}}'],
  stage_faulty: ['Invalid ({{count}})', '有误 {{count}}'],
  stage_ready: ['Ready ({{count}})', '待提交 {{count}}'],
  stage_registered: ['Created ({{count}})', '已注册 {{count}}'],
  stage_refused: ['Refused ({{count}})', '被拒绝 {{count}}'],
  stage: ['Show', '显示哪些行'],
  table: ['Devices to create', '待注册的设备'],
  ready: ['Ready', '待提交'],
  registered: ['Created', '已注册'],
  correct: ['Edit', '修改'],
  send: ['Create {{count}} {{count:device|devices}}', '注册 {{count}} 台设备'],
  again: ['Retry refused rows', '重试被拒绝的行'],
  copyRefused: ['Copy refused rows', '复制被拒绝的行'],
  refusedToText: ['Edit refused rows as text', '以文本修改被拒绝的行'],
  swapped: ['Rows that seem to have latitude first: {{count}}.', '有 {{count}} 行似乎把纬度写在了前面。'],
  swapAll: ['Swap all', '全部对调'],
  toDevices: ['View devices', '前往设备列表'],
})
