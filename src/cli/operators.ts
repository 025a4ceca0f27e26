import { Option } from 'commander'
import type { CreateOperatorKeyRequest, CreateOperatorRequest, Operator, OperatorKey } from '#sdk/api'
import { usageError } from '../runtime/user-error.ts'
import { rowsOf } from './all-rows.ts'
import { collect, wholeNumber } from './arguments.ts'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'
import { sheet, table } from './table.ts'

export function operatorCommands(program: CliCommand, context: Context): void {
  const operator = program
    .command('operator')
    .summary('manage accounts')
    .description('Manages the accounts of people who run the platform.')

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
    .description('Creates an account and shows a one-time setup link for its password.')
    .argument('<name>', 'username for signing in')
    .addOption(
      new Option('--role <role>', 'role of the account')
        .choices(['admin', 'operator', 'viewer', 'developer'])
        .makeOptionMandatory(),
    )
    .option('--app <appid>', 'for the developer role: one of their applications; repeatable', collect)
    .example('operator create "Wang Fang" --role operator')
    .example('operator create "Li Lei" --role developer --app 0f4a1b9c2d3e4f5a6b7c')
    .action(async (name: string, { role, app: appIds }: { role: CreateOperatorRequest['role']; app?: string[] }) => {
      if ((role === 'developer') !== (appIds !== undefined)) {
        throw usageError('--app is required for the developer role and not allowed for other roles')
      }
      const made = await context.client().createOperator({ name, role, appIds })
      const link = made.setUpPath === null ? null : `${context.url}${made.setUpPath}`
      const { id, setUpExpireTime } = made
      context.result({ ...made, setUpUrl: link }, sheet({ id, name, role, link, 'link expires': setUpExpireTime }))
      context.remark('Send the link to the person. It works once and can’t be shown again.')
    })

  operator
    .command('delete')
    .description('Deletes an account and ends its sessions. The audit log keeps its actions.')
    .argument('<id>', 'account ID from `operator list`', wholeNumber(1))
    .option('--hand-over-to <operator>', 'account that gets its keys and saved views', wholeNumber(1))
    .example('operator delete 12 --hand-over-to 7')
    .action(async (id: number, { handOverTo }: { handOverTo?: number }) => {
      const gone = await context.client().deleteOperator({ id, handOverTo })
      context.result(gone, `Account ${gone.name} (${id}) deleted.`)
    })

  operator
    .command('reset-second-factor')
    .description('Resets the second factor of an account, ends its sessions and clears its known browsers.')
    .argument('<id>', 'account ID from `operator list`', wholeNumber(1))
    .requiredOption('--reason <text>', 'reason for the audit log')
    .example('operator reset-second-factor 12 --reason "the phone is lost"')
    .action(async (id: number, { reason }: { reason: string }) => {
      const reset = await context.client().resetSecondFactors({ id, reason })
      context.result(reset, `Second factor of ${reset.name} (${id}) reset. The person is signed out.`)
    })

  const key = program
    .command('key')
    .summary('manage operator keys')
    .description('Manages the operator keys of programs.')

  key
    .command('list')
    .description('Lists operator keys, newest first. The key itself is shown only when you create it.')
    .example('key list')
    .action(async () => {
      const list = await rowsOf(context.client().pageOperatorKeys.all())
      context.result(
        list,
        table(list, {
          ID: ({ id }) => id,
          NAME: ({ name }) => name,
          ROLE: ({ role }) => role,
          STATUS: ({ status }: OperatorKey) => (status === 1 ? 'active' : 'inactive'),
          OWNER: ({ operatorName }) => operatorName,
          EXPIRES: ({ expireTime }) => expireTime,
          'LAST USED': ({ lastUseTime }) => lastUseTime,
        }),
      )
    })

  key
    .command('create')
    .description('Creates an operator key for a program and shows it once.')
    .argument('<name>', 'name of the program, or what the key is for')
    .addOption(
      new Option('--role <role>', 'role of the key').choices(['admin', 'operator', 'viewer']).makeOptionMandatory(),
    )
    .option('--expires <time>', 'expiry, "yyyy-MM-dd HH:mm:ss" (default: in 180 days)')
    .example('key create "nightly import" --role operator')
    .example('key create prometheus --role viewer --json --quiet', 'for scripts')
    .action(async (name: string, { role, expires }: { role: CreateOperatorKeyRequest['role']; expires?: string }) => {
      const made = await context.client().createOperatorKey({ name, role, expireTime: expires })
      const { id, operatorKey, expireTime } = made
      context.result(made, sheet({ id, name, role: made.role, expires: expireTime, key: operatorKey }))
      context.remark('Store the key now. It can’t be shown again.')
    })

  key
    .command('hand-over')
    .description('Reassigns a key to another account, whose role then limits it. Programs that use it keep working.')
    .argument('<id>', 'key ID from `key list`', wholeNumber(1))
    .argument('<operator>', 'account ID from `operator list`', wholeNumber(1))
    .example('key hand-over 7 12')
    .action(async (id: number, operatorId: number) => {
      const key = await context.client().handOverOperatorKey({ id, operatorId })
      const owner = `Key ${key.name} (${id}) now belongs to ${key.operatorName} (${operatorId})`
      context.result(
        key,
        key.status === 1 ? `${owner}.` : `${owner}, but it is inactive. Run \`key list\` to see its status.`,
      )
    })

  key
    .command('delete')
    .description('Revokes a key. It stops working within a second.')
    .argument('<id>', 'key ID from `key list`', wholeNumber(1))
    .example('key delete 7')
    .action(async (id: number) => {
      const gone = await context.client().deleteOperatorKey({ id })
      context.result(gone, `Key ${gone.name} (${id}) revoked.`)
    })
}

function stateOf({ status, isSetUp }: Operator): string {
  if (!isSetUp) return 'not set up'
  return status === 1 ? 'active' : 'disabled'
}
