import { defineTexts } from '../../language/index.ts'

export const useTexts = defineTexts({
  what: ['Serial number, name, request ID or page', '序列号、名称、请求编号或页面'],
  pages: ['Pages', '页面'],
  more: ['See all results', '查看全部结果'],
  allDevices: ['Devices with “{{text}}” in the serial number', '序列号包含“{{text}}”的设备'],
  allNamed: ['Devices with “{{text}}” in the name', '名称包含“{{text}}”的设备'],
  allSites: ['Sites with “{{text}}” in the name', '名称包含“{{text}}”的站点'],
  nothing: ['No results.', '没有找到。'],
  found: ['Showing {{count}} {{count:result|results}}', '显示 {{count}} 项'],
  shortcuts: ['Keyboard shortcuts', '键盘快捷键'],
  keyHelp: ['Show keyboard shortcuts', '显示快捷键'],
  keyMove: ['Move through results', '在结果中上下移动'],
  keyOpen: ['Open result', '打开'],
  keyClose: ['Close dialog or menu', '关闭对话框或菜单'],
  keySkip: ['At the top of a page: skip to the content or the first table row', '在页面开头：跳到内容或表格首行'],
  or: ['or', '或'],
  single: ['Single-key shortcuts ( / and ? )', '单键快捷键（/ 和 ?）'],
})

/** Other words for what the search finds besides pages, in lower case and in both languages. */
export const otherWords = {
  guides: 'documentation docs help reference 文档 帮助',
  shortcuts: 'keys keyboard 按键',
}
