import { callbackLimits } from './limits/callbacks.ts'
import { fairnessLimits } from './limits/fairness.ts'
import { fileLimits } from './limits/files.ts'
import { keptLimits } from './limits/kept.ts'
import { priceLimits } from './limits/prices.ts'
import { requestLimits } from './limits/requests.ts'
import { signInLimits } from './limits/signing-in.ts'

// The limits of a process and of what it stores, each with a comment in this form: “Unit. What is limited, and what that
// protects. Beyond it: the status and code, or what happens. Tested by: the test or benchmark.” `npm run generate` makes
// docs/limits.md from them. Settings are in config.ts, lengths and ranges of the contract's values in values.ts,
// intervals of background work beside that work.

export const limitGroups = {
  'Requests and responses': requestLimits,
  Files: fileLimits,
  Prices: priceLimits,
  Fairness: fairnessLimits,
  Callbacks: callbackLimits,
  'What is kept': keptLimits,
  'Signing in': signInLimits,
} as const

export const limits = {
  ...requestLimits,
  ...fileLimits,
  ...priceLimits,
  ...fairnessLimits,
  ...callbackLimits,
  ...keptLimits,
  ...signInLimits,
} as const
