import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts(
  'map',
  {
    noBase: 'No base map is configured. The setting FORECOURT_MAP_TILES names one.',
    noWebGl: 'This browser cannot draw the full map, so it is drawn in a plain way.',
    tilesFailed: 'Parts of the base map could not be loaded.',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    scrollHelp: 'Hold Ctrl and scroll to zoom the map',
    scrollHelpMac: 'Hold ⌘ and scroll to zoom the map',
    touchHelp: 'Use two fingers to move the map',
  },
  {
    noBase: '未配置底图，可通过设置项 FORECOURT_MAP_TILES 指定。',
    noWebGl: '当前浏览器无法绘制完整地图，已改用简易显示。',
    tilesFailed: '部分底图未能加载。',
    zoomIn: '放大',
    zoomOut: '缩小',
    scrollHelp: '按住 Ctrl 并滚动以缩放地图',
    scrollHelpMac: '按住 ⌘ 并滚动以缩放地图',
    touchHelp: '请用双指移动地图',
  },
)
