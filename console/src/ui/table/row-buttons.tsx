import { useCommon } from '../../language/index.ts'
import { Button } from '../page/button.tsx'

interface RowButtonsProps {
  /** What identifies the row, for who hears the buttons and sees no row. */
  name: string
  edit?: () => void
  remove: () => void
}

/** The buttons that change and delete a row. */
export function RowButtons({ name, edit, remove }: RowButtonsProps) {
  const t = useCommon()
  return (
    <span className="buttons">
      {edit && (
        <Button size="small" aria-label={`${t('edit')} ${name}`} onClick={edit}>
          {t('edit')}
        </Button>
      )}
      <Button size="small" aria-label={`${t('delete')} ${name}`} onClick={remove}>
        {t('delete')}
      </Button>
    </span>
  )
}
