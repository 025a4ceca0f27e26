import { Fragment, useState } from 'react'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { isSingleKeyOn, turnSingleKeys } from './keys.ts'
import './find.css'
import { useTexts } from './texts.ts'

/** The shortcuts of the console. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const [isOn, setOn] = useState(isSingleKeyOn)
  const keys: [keys: string[], text: Parameters<typeof t>[0]][] = [
    [['Ctrl K', ...(isOn ? ['/'] : [])], 'find'],
    ...(isOn ? [[['?'], 'keyHelp'] satisfies [string[], 'keyHelp']] : []),
    [['↑', '↓'], 'keyMove'],
    [['Enter'], 'keyOpen'],
    [['Esc'], 'keyClose'],
    [['Tab'], 'keySkip'],
  ]
  return (
    <Dialog width={640} title={t('shortcuts')} onClose={onClose}>
      <dl className="find-keys">
        {keys.map(([pressed, text]) => (
          <div key={text}>
            <dt>
              {pressed.map((key, place) => (
                <Fragment key={key}>
                  {place > 0 && ` ${t('or')} `}
                  <kbd>{key}</kbd>
                </Fragment>
              ))}
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <label className="find-switch">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => {
            turnSingleKeys(target.checked)
            setOn(target.checked)
          }}
        />{' '}
        {t('single')}
      </label>
    </Dialog>
  )
}
