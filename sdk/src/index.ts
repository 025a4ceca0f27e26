// The client for programs. It has no dependencies, and runs wherever `fetch` and Web Crypto exist.

export type * from './api.ts'
export {
  ActStatus,
  DeliveryStatus,
  DeviceStatus,
  ImportStatus,
  LaneType,
  OnlineStatus,
  PriceChangeStatus,
  RegionLevel,
  RuleType,
  RunStatus,
} from './api.ts'
export { verifyCallback } from './callback.ts'
export { ForecourtError, type ForecourtErrorName } from './error.ts'
export type { Answered, Fetch } from './exchange.ts'
export { FileAnswer, type FileInput } from './file.ts'
export { Forecourt, type ForecourtOptions, type ImportedFile } from './forecourt.ts'
export type { SendOptions } from './method.ts'
export { type CallbackHandlerOptions, callbackHandler, nodeCallbackHandler } from './receiver.ts'
