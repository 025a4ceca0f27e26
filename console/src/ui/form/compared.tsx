import { Checkbox } from 'antd'
import { useState } from 'react'
import { defineTexts } from '../../language/index.ts'
import { Rows } from '../table/rows.tsx'
import { State } from '../text/status.tsx'
import { compare, type Difference } from './compare.ts'

const useTexts = defineTexts({
  comparison: ['Before and after', '变更前后对比'],
  before: ['Before', '变更前'],
  after: ['After', '变更后'],
  changed: ['Changed', '已变更'],
  onlyChanged: ['Show only changes', '仅显示变更'],
  nothing: ['No changes.', '各字段均无变化。'],
  isAbsent: ['not set', '无'],
})

interface ComparedProps {
  before: unknown
  after: unknown
  /** Names of members, where they differ from the API's. */
  names?: Record<string, string>
  /** Other titles of the two sides. */
  titles?: { before: string; after: string }
}

/** Two states of one record, member by member. */
export function Compared({ before, after, names = {}, titles }: ComparedProps) {
  const t = useTexts()
  const [isShort, setShort] = useState(true)
  const all = compare(before, after)
  const shown = all.filter(({ isChanged }) => isChanged || !isShort)
  const side = (text: string | undefined, isChanged: boolean) =>
    text === undefined ? (
      <span className="faint">{t('isAbsent')}</span>
    ) : (
      <span className="mono" style={{ fontWeight: isChanged ? 600 : 400 }}>
        {text}
      </span>
    )
  return (
    <div>
      <Checkbox checked={isShort} onChange={({ target }) => setShort(target.checked)} className="spaced-little">
        {t('onlyChanged')}
      </Checkbox>
      <Rows<Difference>
        label={t('comparison')}
        isSmall
        rowKey={({ member }) => member}
        rows={shown}
        empty={t('nothing')}
        columns={[
          {
            key: 'member',
            title: t('field'),
            render: ({ member }) => named(member, names) ?? <span className="mono">{member}</span>,
          },
          {
            key: 'before',
            title: titles?.before ?? t('before'),
            render: ({ before: text, isChanged }) => side(text, isChanged),
          },
          {
            key: 'after',
            title: titles?.after ?? t('after'),
            render: ({ after: text, isChanged }) => side(text, isChanged),
          },
          // With other titles for the sides, the column of changes is left out.
          ...(titles === undefined
            ? [
                {
                  key: 'isChanged',
                  title: '',
                  render: ({ isChanged }: Difference) => isChanged && <State tone="warn">{t('changed')}</State>,
                },
              ]
            : []),
        ]}
      />
    </div>
  )
}

/** The path of a member in words, as far as they are known; undefined if no step is. */
function named(member: string, names: Record<string, string>): string | undefined {
  const steps = member.split(' ')
  return steps.some((step) => step in names) ? steps.map((step) => names[step] ?? step).join(' ') : undefined
}
