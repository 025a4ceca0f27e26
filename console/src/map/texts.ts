import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts(
  {
    failed: 'Couldn’t load the map.',
    tilesFailed: 'Parts of the map couldn’t be loaded.',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    showAll: 'Show all',
  },
  { failed: '地图未能加载。', tilesFailed: '部分底图未能加载。', zoomIn: '放大', zoomOut: '缩小', showAll: '显示全部' },
)
