import { console as ofConsole } from './console.ts'
import { routes } from './routes.ts'
import { rules } from './rules.ts'
import { sdk } from './sdk.ts'
import { sql } from './sql.ts'

const groups = { rules, routes, sql, console: ofConsole, sdk }

export const faults = Object.entries(groups).flatMap(([group, of]) => of.map((fault) => ({ group, ...fault })))
