import { defineTexts } from '../../language/index.ts'

export const useTexts = defineTexts(
  {
    what: 'Serial number, name, request ID or page',
    pages: 'Pages',
    more: 'See all results',
    allDevices: 'Devices with “{{text}}” in the serial number',
    allNamed: 'Devices with “{{text}}” in the name',
    allSites: 'Sites with “{{text}}” in the name',
    nothing: 'No results.',
    found: 'Showing {{count}} {{count:result|results}}',
    shortcuts: 'Keyboard shortcuts',
    keyHelp: 'Show keyboard shortcuts',
    keyMove: 'Move through results',
    keyOpen: 'Open result',
    keyClose: 'Close dialog or menu',
    keySkip: 'At the top of a page: skip to the content or the first table row',
    or: 'or',
    single: 'Single-key shortcuts ( / and ? )',
  },
  {
    what: '序列号、名称、请求编号或页面',
    pages: '页面',
    more: '查看全部结果',
    allDevices: '序列号包含“{{text}}”的设备',
    allNamed: '名称包含“{{text}}”的设备',
    allSites: '名称包含“{{text}}”的站点',
    nothing: '没有找到。',
    found: '显示 {{count}} 项',
    shortcuts: '键盘快捷键',
    keyHelp: '显示快捷键',
    keyMove: '在结果中上下移动',
    keyOpen: '打开',
    keyClose: '关闭对话框或菜单',
    keySkip: '在页面开头：跳到内容或表格首行',
    or: '或',
    single: '单键快捷键（/ 和 ?）',
  },
)

/** Other words for what the search finds besides pages, in lower case and in both languages. */
export const otherWords = {
  guides: 'documentation docs help reference 文档 帮助',
  shortcuts: 'keys keyboard 按键',
}
