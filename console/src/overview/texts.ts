import { defineTexts } from '../language/index.ts'
import { counts } from '../words/counts.ts'

export const useTexts = defineTexts({
  ...counts,
  offlineApplications: ['{{count}} offline', '{{count}} 个已下线'],
  frozenApplications: ['{{count}} frozen', '{{count}} 个已冻结'],
  stopped: ['{{count}} disabled', '{{count}} 个已停止'],
  heldCallbacks: ['{{count}} paused {{count:endpoint|endpoints}}', '{{count}} 个接收方暂缓投递'],
  countedAt: ['Updated {{time}}', '统计于 {{time}}'],
  counting: ['Counting…', '首次统计中'],
  withoutDevices: ['{{count}} without devices', '{{count}} 个没有设备'],
  chart: ['Last 24 hours', '近 24 小时'],
  chartEmpty: [
    'No records created and no requests refused in the last 24 hours.',
    '近 24 小时没有新建记录，也没有被拒绝的请求。',
  ],
  onlineDevices: ['Devices online', '在线设备'],
  devicesAMinute: ['Devices created per minute', '每分钟新建设备'],
  sitesAMinute: ['Sites created per minute', '每分钟新建站点'],
  refusalsAMinute: ['Refused requests per minute', '每分钟被拒绝的请求'],
  onlineOfHour: ['Peak online', '最多在线'],
  devicesOfHour: [
    '{{timeFrom}} to {{timeTo}}: {{count}} {{count:device|devices}} created',
    '{{timeFrom}} 至 {{timeTo}}：新建设备 {{count}} 台',
  ],
  sitesOfHour: [
    '{{timeFrom}} to {{timeTo}}: {{count}} {{count:site|sites}} created',
    '{{timeFrom}} 至 {{timeTo}}：新建站点 {{count}} 个',
  ],
  refusalsOfHour: [
    '{{timeFrom}} to {{timeTo}}: {{count}} {{count:refused request|refused requests}}',
    '{{timeFrom}} 至 {{timeTo}}：被拒绝的请求 {{count}} 个',
  ],
  devicesCreated: ['Devices created', '新建设备'],
  sitesCreated: ['Sites created', '新建站点'],
  chartWords: [
    'Last 24 hours: {{creates}} {{creates:record|records}} created and {{refusals}} {{refusals:request|requests}} refused, with a peak of {{most}} created per minute.',
    '近 24 小时共创建 {{creates}} 次、拒绝写操作 {{refusals}} 次，每分钟最多创建 {{most}} 次。',
  ],
  troubles: ['Needs attention', '需要关注'],
  noTroubles: ['All clear.', '一切正常。'],
  mostShown: [
    'Showing up to {{count}} applications, sites and jobs. See all in:',
    '此处最多列出 {{count}} 个应用、站点和任务，全部见：',
  ],
  allStopped: [
    '{{count}} disabled {{count:endpoint|endpoints}} (410), each on its application’s page',
    '因 410 停止的接收方：{{count}} 个，见各应用页面',
  ],
  allHeld: [
    '{{count}} paused {{count:endpoint|endpoints}} and their pending deliveries',
    '连续失败而暂缓投递的接收方：{{count}} 个，及其等待中的回调',
  ],
  allDead: ['Failed deliveries: {{count}}', '失败的回调：{{count}}'],
  allFaulty: ['Faulty devices: {{count}}', '故障设备：{{count}}'],
  allGates: ['Devices that are offline and faulty', '离线且故障的设备'],
  allImports: ['Failed imports', '失败的导入'],
  allActs: ['Failed bulk actions', '失败的批量操作'],
  where: ['Source', '位置'],
  thisService: ['This service', '本服务'],
  events: ['Recent events', '最新事件'],
  eventsHint: [
    'Operator actions and platform events, without changes of device state.',
    '运营操作与平台事件，不含设备状态变化。',
  ],
  noEvents: ['No events yet.', '暂无事件。'],
  allEvents: ['View all', '全部此类事件'],
})
