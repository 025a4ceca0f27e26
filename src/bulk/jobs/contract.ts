export const jobStatus = { waiting: 1, running: 2, done: 3, failed: 4, cancelled: 5 } as const

export const jobStatusValues = [1, 2, 3, 4, 5] as const
export const jobStatusWords = '1 waiting, 2 running, 3 done, 4 failed, 5 cancelled.'
