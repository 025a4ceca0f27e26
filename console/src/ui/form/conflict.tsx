import { defineTexts, useCommon } from '../../language/index.ts'
import { Button } from '../page/button.tsx'
import { Note } from '../page/note.tsx'
import { Compared } from './compared.tsx'

const useTexts = defineTexts({
  opened: ['When you opened it', '打开时'],
  now: ['Current', '现在'],
  keepMine: ['Keep mine and save', '保留我的并保存'],
  takeTheirs: ['Take theirs', '采用对方的'],
  both: [
    'You both changed: {{fields}}. Fields that only you changed are kept either way.',
    '双方都修改了：{{fields}}。仅您修改的内容无论如何都会保留。',
  ],
})

interface ConflictProps<Item> {
  /** The record that the form was opened with. */
  opened: Item
  /** The current record; undefined until it has been read. */
  now: Item | undefined
  /** The fields that were changed on both sides. */
  both: readonly string[]
  fieldNames: Record<string, string>
  isLoading: boolean
  load: () => void
  keepMine: () => void
  takeTheirs: () => void
}

/** Shown in a form when someone else has changed its record: the differences, and the choice between the two. */
export function Conflict<Item>({
  opened,
  now,
  both,
  fieldNames,
  isLoading,
  load,
  keepMine,
  takeTheirs,
}: ConflictProps<Item>) {
  const t = useTexts()
  const common = useCommon()
  return (
    <Note type="warning" words={common('changedMeanwhile')}>
      <p className="flush-above">{common('unsaved')}</p>
      {now === undefined ? (
        <Button onClick={load} loading={isLoading}>
          {common('takeTheirs')}
        </Button>
      ) : (
        <>
          <Compared before={opened} after={now} names={fieldNames} titles={{ before: t('opened'), after: t('now') }} />
          {both.length > 0 && (
            <p className="flush-below">
              {t('both', { fields: both.map((field) => fieldNames[field] ?? field).join(', ') })}
            </p>
          )}
          <div className="buttons spaced-above">
            <Button onClick={keepMine}>{t('keepMine')}</Button>
            <Button onClick={takeTheirs}>{t('takeTheirs')}</Button>
          </div>
        </>
      )}
    </Note>
  )
}
