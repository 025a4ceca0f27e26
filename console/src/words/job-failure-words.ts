import type { JobFailure } from '../../../src/bulk/jobs/failure/contract.ts'

type Language = 'en' | 'zh'

/** A job that failed. */
interface FailedJob {
  noun: 'import' | 'act'
  id: number | string
  /** Null where a version of the service before has kept the sentence alone. */
  failure: JobFailure | null
  /** The sentence of the service, in English. */
  error: string | null
}

/** Why an import or a bulk act failed, in the reader's words. */
export function jobFailureWords({ failure, error, ...job }: FailedJob, language: Language): string {
  const told = failure === null ? undefined : sentences[language](failure, job)
  return told ?? error ?? ''
}

/** What the sender of a job has lost, by the code of the refusal. */
const losses: Record<number, Record<Language, string>> = {
  10002: { en: 'their token or session has expired', zh: '其令牌或会话已失效' },
  10003: { en: 'their role no longer allows this', zh: '其角色已无此权限' },
  10004: { en: 'the application no longer exists', zh: '应用已不存在' },
  10005: { en: 'the application is frozen', zh: '应用已被冻结' },
}

/** Undefined for a kind of failure of a later version. */
type Sentence = (failure: JobFailure, job: Pick<FailedJob, 'noun' | 'id'>) => string | undefined

const sentences: Record<Language, Sentence> = {
  en({ kind, place, code, count, cause }, { noun, id }) {
    const where = place === null ? '' : ` at ${noun === 'import' ? 'line ' : ''}${place}`
    switch (kind) {
      case 'accessLost':
        return `It stopped${where} because the person or program that started it lost access: ${losses[code ?? 0]?.en ?? 'access is lost'} (${code}). Rows before that point are done.`
      case 'rowsRefused':
        return `It stopped${where} because ${count} rows were refused. Correct them and upload them again.`
      case 'attemptsFailed':
        return `It stopped${where} after ${count} failed attempts (${cause}). For details, search the service log for ID ${id}.`
      case 'rowsLost':
        return `${count} rows of the file were lost. Upload the file again.`
    }
  },
  zh({ kind, place, code, count, cause }, { noun, id }) {
    const where = place === null ? '已' : noun === 'import' ? `在第 ${place} 行` : `在 ${place} 处`
    switch (kind) {
      case 'accessLost':
        return `${where}停止：发起者不能再继续，${losses[code ?? 0]?.zh ?? '其权限已失效'}（${code}）。之前的数据已处理。`
      case 'rowsRefused':
        return `${where}停止：已有 ${count} 行被拒绝，请更正后重新提交。`
      case 'attemptsFailed':
        return `${where}停止：连续 ${count} 次尝试失败（${cause}）。详情见服务日志，编号 ${id}。`
      case 'rowsLost':
        return `文件中有 ${count} 行已丢失，请重新提交。`
    }
  },
}
