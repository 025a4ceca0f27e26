interface Words {
  en: string
  zh: string
}

/** Actors that are neither accounts nor keys; no account and no key may have such a name. */
const actors: Record<string, Words> = {
  'operator:first start': { en: 'First start', zh: '首次启动' },
  'operator:command line': { en: 'Command line', zh: '命令行' },
  'operator:operator': { en: 'Operator key from the settings', zh: '配置中的运营密钥' },
  'operatorKey:operator': { en: 'Operator key from the settings (signed in)', zh: '以配置中的密钥登录' },
  anyone: { en: 'Not signed in', zh: '未登录者' },
}
/** The actor of what a price change does when it takes effect; the price change names who scheduled it. */
const prices: Words = { en: 'Scheduled price change', zh: '到期的调价' }
const platform: Words = { en: 'Forecourt', zh: 'Forecourt 系统' }

/** The actors, other than the platform itself, that are neither accounts nor keys, with their words. */
export const actorsWithoutAccount = Object.entries(actors).map(([actor, words]) => ({ actor, words }))

/** The words of an actor that is neither an account nor a key; undefined for any other. */
export function actorWords(actor: string, language: keyof Words): string | undefined {
  if (actor === 'platform:prices') return prices[language]
  return (actor.startsWith('platform:') ? platform : actors[actor])?.[language]
}
