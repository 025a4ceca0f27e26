import { useCommon } from '../../language/index.ts'
import { ConfirmButton, type ConfirmButtonProps } from '../dialog/confirm.tsx'
import { Button } from '../page/button.tsx'

interface RowButtonsProps extends Pick<ConfirmButtonProps, 'title' | 'children' | 'run' | 'done'> {
  /** What identifies the row, for who hears the buttons and sees no row. */
  name: string
  edit?: () => void
}

/** The buttons that change a row and, after a question, delete it. */
export function RowButtons({ name, edit, ...question }: RowButtonsProps) {
  const t = useCommon()
  return (
    <span className="buttons">
      {edit && (
        <Button size="small" aria-label={`${t('edit')} ${name}`} onClick={edit}>
          {t('edit')}
        </Button>
      )}
      <ConfirmButton
        button={{ size: 'small', 'aria-label': `${t('delete')} ${name}` }}
        verb={t('delete')}
        isDangerous
        {...question}
      />
    </span>
  )
}
