import type { Answer, Client } from '../kit/client.ts'
import type { TestApplication } from '../kit/records.ts'

/** A change after which the tokens of an application are refused. */
export interface AccessChange {
  what: string
  refused: number
  /** Whether the change waits for running writes of the application. */
  isOrdered: boolean
  change(by: Client, app: TestApplication): Promise<Answer<unknown>>
}

export const accessChanges: AccessChange[] = [
  {
    ...{ what: 'a freeze', refused: 10005, isOrdered: true },
    change: (by, { appId }) => by.operate('freezeApplication', { appId, reason: 'test' }),
  },
  {
    ...{ what: 'a rotation', refused: 10002, isOrdered: true },
    change: (by, { appId }) => by.operate('rotateApplicationSecret', { appId }),
  },
  {
    ...{ what: 'a revocation', refused: 10002, isOrdered: false },
    change: (by, { appId, appSecret, token }) =>
      by.call('revokeToken', { client_id: appId, client_secret: appSecret, token }),
  },
]
