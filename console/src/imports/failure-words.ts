import { type JobFailure, readJobFailure } from '../../../src/bulk/jobs/failure/contract.ts'

type Language = 'en' | 'zh'

/** Why an import or a bulk act failed, in the reader's words. A text that the service does not write is shown as it is. */
export function jobFailureWords(error: string, language: Language): string {
  const failure = readJobFailure(error)
  return failure === undefined ? error : sentences[language](failure)
}

/** What the sender of a job has lost, by the name of the refusal. */
const losses: Record<string, Record<Language, string>> = {
  applicationNotFound: { en: 'the application is gone', zh: '应用已不存在' },
  applicationFrozen: { en: 'the application is frozen', zh: '应用已被冻结' },
  tokenInvalid: { en: 'their token or session has ended', zh: '其令牌或会话已失效' },
  notPermitted: { en: 'their role may not do this any more', zh: '其角色已无此权限' },
}
const lossOf = (name: string, language: Language) => losses[name]?.[language] ?? name

const sentences: Record<Language, (failure: JobFailure) => string> = {
  en(failure) {
    if (failure.kind === 'missing') return `${failure.rows} rows of the file are lost: send it again.`
    const where = failure.place === '' ? '' : ` at ${failure.place}`
    switch (failure.kind) {
      case 'loss':
        return `It stopped${where}, because whoever began it may not go on: ${lossOf(failure.name, 'en')} (${failure.code}). Rows before it are done.`
      case 'refused':
        return `It stopped${where}, because ${failure.rows} of its rows were refused: correct them and send them again.`
      case 'failure':
        return `It stopped after ${failure.attempts} failed attempts${where} (${failure.what}). The service’s log tells more under the id ${failure.id}.`
    }
  },
  zh(failure) {
    if (failure.kind === 'missing') return `文件中有 ${failure.rows} 行已丢失，请重新提交。`
    const where = placeInChinese(failure.place)
    switch (failure.kind) {
      case 'loss':
        return `${where}停止：发起者不能再继续，${lossOf(failure.name, 'zh')}（${failure.code}）。之前的数据已处理。`
      case 'refused':
        return `${where}停止：已有 ${failure.rows} 行被拒绝，请更正后重新提交。`
      case 'failure':
        return `${where}停止：连续 ${failure.attempts} 次尝试失败（${failure.what}）。详情见服务日志，编号 ${failure.id}。`
    }
  },
}

function placeInChinese(place: string): string {
  if (place === '') return '已'
  const line = /^line (\d+)$/.exec(place)?.[1]
  return line === undefined ? `在 ${place} 处` : `在第 ${line} 行`
}
