/** The guides, in the order in which they are read; each is a file of docs/guides/en and docs/guides/zh. */
export const guideNames = [
  'quick-start',
  'concepts',
  'tokens',
  'errors',
  'retries',
  'pages',
  'bulk',
  'prices',
  'states',
  'events',
  'sync',
  'sdk',
  'versioning',
  'limits',
  'testing',
  'migrating',
  'operating',
  'alerts',
  'sign-on',
  'settings',
] as const

export const languages = ['en', 'zh'] as const
export type Language = (typeof languages)[number]

/** The two parts of the API reference, and where each is. */
export const referenceParts = {
  integrators: '/docs/reference',
  operators: '/docs/reference/operators',
} as const
export type ReferencePart = keyof typeof referenceParts

/** What stands around the text of a page. */
export const pageTexts = {
  en: {
    guides: 'Guides',
    contents: 'All guides',
    reference: 'Reference',
    console: 'Console',
    search: 'Search',
    otherLanguage: '中文',
    next: 'Next: ',
    parts: { integrators: 'API reference for integrators', operators: 'API reference for operators' },
  },
  zh: {
    guides: '指南',
    contents: '全部指南',
    reference: '接口参考',
    console: '控制台',
    search: '搜索',
    otherLanguage: 'English',
    next: '下一篇：',
    parts: { integrators: '接入方接口参考', operators: '运营方接口参考' },
  },
}
