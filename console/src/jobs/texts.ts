import { defineTexts } from '../language/index.ts'

/** The texts of all jobs: imports and bulk actions. */
export const useJobTexts = defineTexts({
  status_1: ['Waiting', '等待中'],
  status_2: ['Running', '进行中'],
  status_3: ['Done', '已完成'],
  status_4: ['Failed', '失败'],
  status_5: ['Cancelled', '已取消'],
  actor: ['Started by', '操作者'],
  finished: ['Finished', '结束时间'],
  results: ['Results', '结果'],
  noResults: ['No rows with this result.', '没有此结果的行。'],
  noResultsYet: ['No rows processed yet.', '还没有处理任何行。'],
  code: ['Error code', '错误码'],
  more: ['Show more', '显示更多'],
  first: ['Showing the first {{count}}.', '显示前 {{count}} 行。'],
  lastShown: [
    'Showing the first {{count}}. Download the results to see all.',
    '显示前 {{count}} 行，下载文件中有全部行。',
  ],
})
