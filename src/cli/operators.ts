import { Option } from 'commander'
import type { CreateOperatorKeyRequest, CreateOperatorRequest, Operator, OperatorKey } from '#sdk/api'
import { rowsOf } from './all-rows.ts'
import { collect, wholeNumber } from './arguments.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { sheet, table } from './table.ts'
import { UsageError } from './usage-error.ts'

/** The commands about people who operate the platform, and about the keys of their programs. */
export function operatorCommands(program: CliCommand, context: Context): void {
  const operator = program
    .command('operator')
    .summary('accounts of people')
    .description('The accounts of people who operate the platform.')

  operator
    .command('list')
    .description('Lists the accounts, newest first.')
    .example('operator list')
    .action(async () => {
      const list = await rowsOf(context.client().pageOperators.all())
      context.result(
        list,
        table(list, {
          ID: ({ id }) => id,
          NAME: ({ name }) => name,
          ROLE: ({ role }) => role,
          STATUS: (row) => stateOf(row),
          CREATED: ({ createTime }) => createTime,
          'SIGNED IN': ({ signInTime }) => signInTime,
        }),
      )
    })

  operator
    .command('create')
    .description('Creates an account, and shows once the link by which the person sets a password.')
    .argument('<name>', 'the name that the person signs in with')
    .addOption(
      new Option('--role <role>', 'what the person may do')
        .choices(['admin', 'operator', 'viewer', 'developer'])
        .makeOptionMandatory(),
    )
    .option('--app <appid>', 'for a developer: one of their applications; can be repeated', collect)
    .example('operator create "Wang Fang" --role operator')
    .example('operator create "Li Lei" --role developer --app 0f4a1b9c2d3e4f5a6b7c')
    .action(async (name: string, { role, app: appIds }: { role: CreateOperatorRequest['role']; app?: string[] }) => {
      if ((role === 'developer') !== (appIds !== undefined)) {
        throw new UsageError('--app names the applications of a developer, who sees no others; the other roles see all')
      }
      const made = await context.client().createOperator({ name, role, appIds })
      const link = made.setUpPath === null ? null : `${context.url}${made.setUpPath}`
      const { id, setUpExpireTime } = made
      context.result({ ...made, setUpUrl: link }, sheet({ id, name, role, link, 'link ends': setUpExpireTime }))
      context.remark('Give the link to the person: it works once, and is shown only now.')
    })

  operator
    .command('delete')
    .description('Removes an account and ends its sessions. What it did stays in the audit trail.')
    .argument('<id>', 'the account, as `operator list` shows it', wholeNumber(1))
    .option('--hand-over-to <operator>', 'the account that takes over its keys and saved views', wholeNumber(1))
    .example('operator delete 12 --hand-over-to 7')
    .action(async (id: number, { handOverTo }: { handOverTo?: number }) => {
      const gone = await context.client().deleteOperator({ id, handOverTo })
      context.result(gone, `The account ${gone.name} (${id}) is removed.`)
    })

  operator
    .command('reset-second-factor')
    .description('Removes all second factors of an account, ends its sessions and forgets its browsers.')
    .argument('<id>', 'the account, as `operator list` shows it', wholeNumber(1))
    .requiredOption('--reason <text>', 'why, for the audit trail')
    .example('operator reset-second-factor 12 --reason "the phone is lost"')
    .action(async (id: number, { reason }: { reason: string }) => {
      const reset = await context.client().resetSecondFactors({ id, reason })
      context.result(reset, `The account ${reset.name} (${id}) has no second factor any more, and is signed out.`)
    })

  const key = program.command('key').summary('keys of programs').description('The operator keys of programs.')

  key
    .command('list')
    .description('Lists the keys, newest first. A key itself is shown only when it is created.')
    .example('key list')
    .action(async () => {
      const list = await rowsOf(context.client().pageOperatorKeys.all())
      context.result(
        list,
        table(list, {
          ID: ({ id }) => id,
          NAME: ({ name }) => name,
          ROLE: ({ role }) => role,
          STATUS: ({ status }: OperatorKey) => (status === 1 ? 'works' : 'ended'),
          OWNER: ({ operatorName }) => operatorName,
          ENDS: ({ expireTime }) => expireTime,
          USED: ({ lastUseTime }) => lastUseTime,
        }),
      )
    })

  key
    .command('create')
    .description('Creates a key for a program, and shows it once.')
    .argument('<name>', 'the purpose of the key, or the name of its program')
    .addOption(
      new Option('--role <role>', 'what it may do').choices(['admin', 'operator', 'viewer']).makeOptionMandatory(),
    )
    .option('--expires <time>', 'when it ends, "yyyy-MM-dd HH:mm:ss" (default: in 180 days)')
    .example('key create "nightly import" --role operator')
    .example('key create prometheus --role viewer --json --quiet', 'for a script')
    .action(async (name: string, { role, expires }: { role: CreateOperatorKeyRequest['role']; expires?: string }) => {
      const made = await context.client().createOperatorKey({ name, role, expireTime: expires })
      const { id, operatorKey, expireTime } = made
      context.result(made, sheet({ id, name, role: made.role, ends: expireTime, key: operatorKey }))
      context.remark('The key is shown only now.')
    })

  key
    .command('hand-over')
    .description('Gives a key to another account, whose role then limits it. Programs that use it keep working.')
    .argument('<id>', 'the key, as `key list` shows it', wholeNumber(1))
    .argument('<operator>', 'the account, as `operator list` shows it', wholeNumber(1))
    .example('key hand-over 7 12')
    .action(async (id: number, operatorId: number) => {
      const key = await context.client().handOverOperatorKey({ id, operatorId })
      const owner = `The key ${key.name} (${id}) belongs to ${key.operatorName} (${operatorId}) now`
      context.result(key, key.status === 1 ? `${owner}.` : `${owner}, but does not work: \`key list\` shows its state.`)
    })

  key
    .command('delete')
    .description('Removes a key: it stops working within a second.')
    .argument('<id>', 'the key, as `key list` shows it', wholeNumber(1))
    .example('key delete 7')
    .action(async (id: number) => {
      const gone = await context.client().deleteOperatorKey({ id })
      context.result(gone, `The key ${gone.name} (${id}) is removed.`)
    })
}

function stateOf({ status, isSetUp }: Operator): string {
  if (!isSetUp) return 'link not used'
  return status === 1 ? 'active' : 'disabled'
}
