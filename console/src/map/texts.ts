import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts({
  failed: ['Couldn’t load the map.', '地图未能加载。'],
  tilesFailed: ['Parts of the map couldn’t be loaded.', '部分底图未能加载。'],
  zoomIn: ['Zoom in', '放大'],
  zoomOut: ['Zoom out', '缩小'],
  showAll: ['Show all', '显示全部'],
})
