import { defineTexts } from '../language/index.ts'

/** The texts of all jobs: imports and bulk actions. */
export const useJobTexts = defineTexts(
  {
    status_1: 'Waiting',
    status_2: 'Running',
    status_3: 'Done',
    status_4: 'Failed',
    status_5: 'Cancelled',
    actor: 'Started by',
    finished: 'Finished',
    results: 'Results',
    noResults: 'No rows with this result.',
    noResultsYet: 'No rows processed yet.',
    code: 'Error code',
    more: 'Show more',
    first: 'Showing the first {{count}}.',
    lastShown: 'Showing the first {{count}}. Download the results to see all.',
  },
  {
    status_1: '等待中',
    status_2: '进行中',
    status_3: '已完成',
    status_4: '失败',
    status_5: '已取消',
    actor: '操作者',
    finished: '结束时间',
    results: '结果',
    noResults: '没有此结果的行。',
    noResultsYet: '还没有处理任何行。',
    code: '错误码',
    more: '显示更多',
    first: '显示前 {{count}} 行。',
    lastShown: '显示前 {{count}} 行，下载文件中有全部行。',
  },
)
