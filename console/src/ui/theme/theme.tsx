import { ConfigProvider } from 'antd'
import enUS from 'antd/es/locale/en_US'
import zhCN from 'antd/es/locale/zh_CN'
import dayjs from 'dayjs'
import 'dayjs/locale/zh-cn'
import { tokens } from 'virtual:antd-tokens'
import { type ReactNode, useEffect } from 'react'
import { useMedia, useSignal } from '../../browser/hooks.ts'
import { applyShade, isDarkIn, shade, systemIsDark } from '../../browser/shade.ts'
import { useLanguage } from '../../language/index.ts'
import { Feedback } from '../dialog/feedback.tsx'

declare module 'react' {
  interface CSSProperties {
    [property: `--${string}`]: string | undefined
  }
}

/** The console's look: light or dark, by the system or by choice, in the chosen language. */
export function Theme({ children }: { children: ReactNode }) {
  const language = useLanguage()
  const isDark = isDarkIn(useSignal(shade), useMedia(systemIsDark))
  useEffect(() => applyShade(isDark), [isDark])

  dayjs.locale(language === 'zh' ? 'zh-cn' : 'en')
  return (
    <ConfigProvider
      // Ant Design would put a space between the characters of a two-character button.
      button={{ autoInsertSpace: false }}
      // Outside of an open dialog nothing can be reached.
      getPopupContainer={(trigger) => trigger?.closest('dialog') ?? document.body}
      locale={language === 'zh' ? zhCN : enUS}
      theme={{
        // The style sheets have the looks (console/look.ts).
        zeroRuntime: true,
        cssVar: { key: 'forecourt' },
        token: {
          ...tokens[isDark ? 'dark' : 'light'],
          // If the user has switched off motion, nothing may wait for the end of an animation.
          motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
        },
      }}
    >
      <div className="ground">
        {children}
        <Feedback />
      </div>
    </ConfigProvider>
  )
}
