import { defineTexts } from '../language/index.ts'

/** The names of counts, of an application and of all. */
export const counts = {
  en: {
    sites: 'Sites',
    devices: 'Devices',
    offline: 'Devices offline',
    faulty: 'Faulty devices',
    waiting: 'Pending deliveries',
    dead: 'Failed deliveries',
    eventsWaiting: '{{count}} queued {{count:event|events}}',
  },
  zh: {
    sites: '站点',
    devices: '设备',
    offline: '离线',
    faulty: '故障',
    waiting: '等待重试的回调',
    dead: '失败的回调',
    eventsWaiting: '{{count}} 个事件尚未首次投递',
  },
}

export const useCounts = defineTexts(counts.en, counts.zh)
