import { defineTexts } from '../language/index.ts'
import { siteFields } from '../words/fields.ts'

/** The texts of the pages of sites. */
export const useTexts = defineTexts({
  ...siteFields,
  newSite: ['New site', '新建站点'],
  newLike: ['Duplicate', '以此新建站点'],
  isLike: [
    'Based on “{{name}}”, without its name, address, coordinates, pictures and cameras.',
    '新站点沿用“{{name}}”的内容，名称、详细地址、坐标、图片和摄像头除外。',
  ],
  none: ['No sites yet.', '还没有站点。'],
  views: ['View', '视图'],
  table: ['Table', '表格'],
  map: ['Table and map', '表格和地图'],
  siteName: ['Site name', '站点名称'],
  nextDay: ['next day', '次日'],
  sitePictureUrl: ['Picture URLs', '站点图片地址'],
  pictures: ['Pictures', '站点图片'],
  picture: ['Picture {{number}}', '站点图片 {{number}}'],
  ipcIds: ['Camera IDs (IPC)', '摄像头 ID（IPC）'],
  detailAddress: ['Street address', '详细地址'],
  coordinates: ['Coordinates', '坐标'],
  withDevices: ['With devices', '有设备'],
  withoutDevices: ['Without devices', '没有设备'],
  mapArea: ['Map area', '地图范围'],
  clearArea: ['Clear map area', '不限地图范围'],
  searchHere: ['Search this area', '在此地图范围内搜索'],
  mapLabel: ['Map of sites', '站点地图'],
  mapOfSite: ['Map of the site’s location', '站点位置地图'],
  mapToPick: ['Map for choosing the site’s location', '在地图上选取站点位置'],
  shown: ['{{count}} {{count:site|sites}} on the map.', '地图上有 {{count}} 个站点。'],
  shownSome: [
    'Showing the {{read}} newest sites. Narrow the filters to see more.',
    '地图上显示最新的 {{read}} 个站点，还有更多。请缩小筛选范围以查看其他站点。',
  ],
  noPlace: ['{{count}} {{count:site|sites}} without coordinates.', '{{count}} 个站点没有坐标。'],
  readingPoints: ['Loading locations…', '正在读取位置…'],
  pointsFailed: ['Couldn’t load the locations.', '无法读取站点位置。'],
  chosenSites: ['{{count}} {{count:site|sites}} here', '此处有 {{count}} 个站点'],
  place: ['Location', '位置'],
  more: ['Pictures and cameras', '图片与设备'],
  record: ['API response', 'API 返回的数据'],
  weekDayNote: [
    'Free text. The service doesn’t interpret it. If the site is out of service, this field says so.',
    '自由填写，不参与业务逻辑。暂停营业的站点在此注明。',
  ],
  outOfService: ['Out of service', '暂停营业'],
  outUsually: ['Out of service (usually {{days}})', '暂停营业（平时：{{days}}）'],
  outForm: [
    'Must begin with “{{begin}}”, so that lists show the site as out of service. The text in brackets is suggested when you put the site back in service.',
    '须以“{{begin}}”开头，列表据此识别；恢复营业时将建议使用括号中的文字。',
  ],
  takeOut: ['Take out of service', '暂停营业'],
  takeOutAsked: ['Take out of service…', '暂停营业…'],
  outTitle: ['Take {{name}} out of service?', '要将“{{name}}”设为暂停营业吗？'],
  outWords: [
    'Sites have no status of their own, so this is stored in the opening days. Anyone who reads the site sees this text instead of “{{days}}”. Prices and devices don’t change.',
    '接口中没有站点状态，读取站点者看到的是营业日：以下文字将替换“{{days}}”。价格、出入口和设备保持不变。',
  ],
  takeBack: ['Put back in service', '恢复营业'],
  takeBackAsked: ['Put back in service…', '恢复营业…'],
  backTitle: ['Put {{name}} back in service?', '要让“{{name}}”恢复营业吗？'],
  backWords: [
    'The opening days are now “{{days}}”. They change to this text.',
    '营业日现为“{{days}}”，将由以下文字替换。',
  ],
  closingNote: ['A time before the opening time means the next day.', '早于开始营业时间表示跨过午夜。'],
  closesNextDay: ['Closes at {{time}} on the next day.', '次日 {{time}} 结束营业。'],
  endOfDay: ['24:00 (end of day)', '24:00（当日结束）'],
  pictureNote: ['Separate several URLs with commas.', '多个地址用逗号分隔。'],
  ipcNote: ['Separate several IDs with commas.', '多个 ID 用逗号分隔。'],
  coordinatesNote: [
    'longitude,latitude in decimal degrees, as 115.899918,28.676493',
    '经度,纬度（十进制度），如 115.899918,28.676493',
  ],
  notCoordinates: ['Enter longitude,latitude in decimal degrees.', '这不是“经度,纬度”（十进制度）。'],
  looksSwapped: [
    'This looks like latitude,longitude. Enter the longitude first.',
    '看起来是“纬度,经度”，应将经度写在前面。',
  ],
  swap: ['Swap', '交换两者'],
  pick: ['Choose on map', '在地图上选取'],
  hideMap: ['Hide map', '隐藏地图'],
  clickMap: ['Click the site’s location on the map.', '请在地图上点击站点所在位置。'],
  configMissing: [
    'Before you can create a site, add the application’s third-party configuration.',
    '创建站点前，须先完成该应用的第三方配置。',
  ],
  configure: ['Add configuration', '去完成第三方配置'],
  createdMessage: ['Site created.', '站点已创建。'],
  savedMessage: ['Site saved.', '站点已保存。'],
  deletedMessage: ['Site deleted.', '站点已删除。'],
  deleteWords: [
    'The site is deleted immediately. Its devices and billing rules stay with the application. You can’t undo this.',
    '站点将立即删除，其 ID 不会再次使用。应用的设备和计费规则不受影响。',
  ],
  deleteCount: [
    '{{count}} {{count:device is|devices are}} at this site. After you delete it, {{count:the device stays|the devices stay}} with the application, without a site.',
    '此站点有 {{count}} 台设备。设备仍属于该应用，此后不安装在任何站点。',
  ],
  data: ['Data', '数据'],
  noEvents: ['No events for this site.', '没有与该站点相关的事件。'],
  otherEvents: ['View in Events', '在事件页查看'],
})

/** The names of a site's fields in forms and refusals. */
export function useFieldNames(): Record<string, string> {
  const t = useTexts()
  return Object.fromEntries(namedFields.map((field) => [field, t(field)]))
}

const namedFields = [
  'siteName',
  'contacts',
  'contactsPhone',
  'customerServicePhone',
  'businessWeekDay',
  'businessStartTime',
  'businessClosingTime',
  'sitePictureUrl',
  'fastChargeBillRuleId',
  'rushingBillRuleId',
  'placeholderBillRuleId',
  'ipcIds',
  'detailAddress',
  'coordinates',
] as const
