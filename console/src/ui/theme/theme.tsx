import { ConfigProvider } from 'antd'
import enUS from 'antd/es/locale/en_US'
import zhCN from 'antd/es/locale/zh_CN'
import dayjs from 'dayjs'
import 'dayjs/locale/zh-cn'
import { tokens } from 'virtual:antd-tokens'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { applyShade, firstShade, isDarkIn, type Shade, storeShade, systemIsDark } from '../../browser/shade.ts'
import { useLanguage } from '../../language/index.ts'
import { Feedback } from '../dialog/feedback.tsx'

interface ShadeState {
  shade: Shade
  isDark: boolean
  choose(shade: Shade): void
}

const ShadeContext = createContext<ShadeState>({ shade: 'system', isDark: false, choose: () => {} })

export const useShade = (): ShadeState => useContext(ShadeContext)

/** The console's look: light or dark, by the system or by choice, in the chosen language. */
export function Theme({ children }: { children: ReactNode }) {
  const language = useLanguage()
  const [shade, setShade] = useState(firstShade)
  const [isDark, setDark] = useState(() => isDarkIn(shade))
  useEffect(() => {
    const follow = () => setDark(isDarkIn(shade))
    follow()
    systemIsDark.addEventListener('change', follow)
    return () => systemIsDark.removeEventListener('change', follow)
  }, [shade])
  useEffect(() => applyShade(isDark), [isDark])
  dayjs.locale(language === 'zh' ? 'zh-cn' : 'en')
  const state = useMemo<ShadeState>(() => {
    const choose = (chosen: Shade) => {
      storeShade(chosen)
      setShade(chosen)
    }
    return { shade, isDark, choose }
  }, [shade, isDark])
  return (
    <ShadeContext value={state}>
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
    </ShadeContext>
  )
}
