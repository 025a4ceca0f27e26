import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts(
  {
    failed: 'The map could not be loaded.',
    tilesFailed: 'Parts of the base map could not be loaded.',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    showAll: 'Show all',
  },
  { failed: '地图未能加载。', tilesFailed: '部分底图未能加载。', zoomIn: '放大', zoomOut: '缩小', showAll: '显示全部' },
)
