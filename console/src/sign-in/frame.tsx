import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { Logo } from '../ui/page/logo.tsx'
import { LanguageSwitch, ShadeSwitch } from '../ui/theme/switches.tsx'
import { useTexts } from './texts.ts'
import '../account/ways.css'

/** The card in the middle of the screen, shared by sign-in and set-up. */
export function Frame({ title, children }: { title: string; children: ReactNode }) {
  const t = useTexts()
  useEffect(() => {
    document.title = `${title} · Forecourt`
  }, [title])
  return (
    <div className="sign-in">
      <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8, padding: 12 }}>
        <LanguageSwitch />
        <ShadeSwitch />
      </div>
      <main style={{ padding: '6vh 16px 48px' }}>
        <div className="card" style={{ maxWidth: 400, margin: '0 auto', padding: 28 }}>
          <div className="in-a-row spaced-little">
            <Logo size={32} />
            <strong style={{ fontSize: 18 }}>Forecourt</strong>
          </div>
          <p className="faint" style={{ margin: '0 0 20px' }}>
            {t('about')}
          </p>
          <h1 style={{ fontSize: 20, margin: '0 0 16px' }}>{title}</h1>
          {children}
        </div>
      </main>
    </div>
  )
}
