import { defineTexts, type Text } from '../language/index.ts'

/** The names of counts, of an application and of all. */
export const counts = {
  sites: ['Sites', '站点'],
  devices: ['Devices', '设备'],
  offline: ['Devices offline', '离线'],
  faulty: ['Faulty devices', '故障'],
  waiting: ['Pending deliveries', '等待重试的回调'],
  dead: ['Failed deliveries', '失败的回调'],
  eventsWaiting: ['{{count}} queued {{count:event|events}}', '{{count}} 个事件尚未首次投递'],
} satisfies Record<string, Text>

export const useCounts = defineTexts(counts)
