import type { Answerer, Peers, Topic, Topics, WorkerStatus } from '../runtime/peer-processes.ts'
import type { Question, Request, ServeOrder, ToParent, ToWorker } from './messages.ts'

export class ParentChannel implements Peers {
  workers: WorkerStatus = { serving: 0, wanted: 1, isStarted: false }
  private readonly answerers = new Map<Topic, (question: never) => unknown>()
  private readonly replies = new Map<number, (reply: unknown) => void>()
  private requests = 0

  /** Listens to the parent from now on. Resolves with its order. */
  untilOrdered(): Promise<ServeOrder> {
    return new Promise((resolve) => {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'workers') this.workers = message.workers
        else if (message.kind === 'question') void this.answer(message.id, message.asked)
        else if (message.kind === 'reply') this.takeReply(message.id, message.reply)
        else {
          this.workers = message.workers
          resolve(message.order)
        }
      })
      send({ kind: 'hearing' })
    })
  }

  tellServing(): void {
    send({ kind: 'serving' })
  }

  /** Resolves when it is sent, so that the process may end. */
  tellFailed(reason: string): Promise<void> {
    return new Promise((resolve) => send({ kind: 'failed', reason }, resolve))
  }

  ask<Name extends Topic>(topic: Name, question: Topics[Name]['question']): Promise<Topics[Name]['answer'][]> {
    return this.request({ what: 'ask', asked: { topic, question } })
  }

  onAsked<Name extends Topic>(topic: Name, answer: Answerer<Name>): void {
    this.answerers.set(topic, answer)
  }

  claim(key: string, most = 1): Promise<boolean> {
    return this.request({ what: 'claim', key, most })
  }

  release(key: string): void {
    send({ kind: 'release', key })
  }

  allMetrics(): Promise<string> {
    return this.request({ what: 'metrics' })
  }

  private request<Reply>(request: Request): Promise<Reply> {
    const id = this.requests++
    return new Promise((resolve) => {
      this.replies.set(id, resolve as (reply: unknown) => void)
      send({ kind: 'request', id, request })
    })
  }

  private takeReply(id: number, reply: unknown): void {
    this.replies.get(id)?.(reply)
    this.replies.delete(id)
  }

  /** If the answerer fails, sends an empty answer, so that the asking process continues. */
  private async answer(id: number, { topic, question }: Question): Promise<void> {
    const answered = async () => this.answerers.get(topic)?.(question as never)
    send({ kind: 'answer', id, answer: await answered().catch(() => undefined) })
  }
}

/** If the parent is gone, nobody receives the message, and this process is about to end. */
function send(message: ToParent, whenSent = () => {}): void {
  process.send?.(message, undefined, undefined, whenSent)
}
