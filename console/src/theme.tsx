import { theme as antdTheme, ConfigProvider, type ThemeConfig } from 'antd'
import enUS from 'antd/locale/en_US'
import zhCN from 'antd/locale/zh_CN'
import dayjs from 'dayjs'
import 'dayjs/locale/zh-cn'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { useLanguage } from './language/index.ts'
import { Told } from './ui/told.tsx'

export type Shade = 'light' | 'dark' | 'system'
const storageKey = 'forecourt.shade'
/** The class of what the theme's variables hold for. */
const variables = 'forecourt'
const darkScheme = '(prefers-color-scheme: dark)'

interface ShadeState {
  shade: Shade
  isDark: boolean
  choose(shade: Shade): void
}

const ShadeContext = createContext<ShadeState>({ shade: 'system', isDark: false, choose: () => {} })

export const useShade = (): ShadeState => useContext(ShadeContext)

/** The console's look: light or dark as the system is, or as it was chosen, in the chosen language. */
export function Theme({ children }: { children: ReactNode }) {
  const language = useLanguage()
  const [shade, setShade] = useState<Shade>(() => (localStorage.getItem(storageKey) as Shade | null) ?? 'system')
  const [isSystemDark, setSystemDark] = useState(() => matchMedia(darkScheme).matches)
  useEffect(() => {
    const media = matchMedia(darkScheme)
    const follow = () => setSystemDark(media.matches)
    media.addEventListener('change', follow)
    return () => media.removeEventListener('change', follow)
  }, [])
  dayjs.locale(language === 'zh' ? 'zh-cn' : 'en')
  const isDark = shade === 'dark' || (shade === 'system' && isSystemDark)
  useEffect(() => {
    document.documentElement.dataset.shade = isDark ? 'dark' : 'light'
  }, [isDark])
  const state = useMemo<ShadeState>(() => {
    const choose = (chosen: Shade) => {
      localStorage.setItem(storageKey, chosen)
      setShade(chosen)
    }
    return { shade, isDark, choose }
  }, [shade, isDark])
  return (
    <ShadeContext value={state}>
      <ConfigProvider
        // Two characters are a word without a space between them.
        button={{ autoInsertSpace: false }}
        locale={language === 'zh' ? zhCN : enUS}
        theme={lookOf(isDark)}
      >
        <div className={`ground ${variables}`}>
          {children}
          <Told />
        </div>
      </ConfigProvider>
    </ShadeContext>
  )
}

/** The colours of light and of dark; every text on its ground reaches the contrast of WCAG AA. */
function lookOf(isDark: boolean): ThemeConfig {
  const pick = (light: string, dark: string) => (isDark ? dark : light)
  const accent = pick('#0b6e6e', '#4fc4bc')
  const chosen = pick('#e3f1f0', '#123a38')
  const chosenHover = pick('#d3e8e6', '#174845')
  const faint = pick('#595959', '#a6a6a6')
  return {
    // The style sheet is there from the start: making it on each page took a fifth of what a page costs.
    zeroRuntime: true,
    cssVar: { key: variables },
    algorithm: isDark ? antdTheme.darkAlgorithm : antdTheme.defaultAlgorithm,
    components: {
      Tabs: { itemSelectedColor: accent, itemHoverColor: accent, inkBarColor: accent },
      Button: {
        colorError: pick('#cf1322', '#ff7875'),
        colorErrorHover: pick('#a8071a', '#ffa39e'),
        // The text on a button that is filled with it.
        dangerColor: pick('#fff', '#1f0a0a'),
      },
    },
    token: {
      // Without motion at all, nothing waits for the end of one.
      motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
      // Dark enough for white text on it.
      colorPrimary: pick('#0b6e6e', '#0f7f7a'),
      colorInfo: pick('#0b6e6e', '#0f7f7a'),
      // The palettes that are made from these colours are too grey for text on them.
      colorInfoBg: chosen,
      colorInfoBorder: chosenHover,
      colorPrimaryBg: chosen,
      colorPrimaryBgHover: chosenHover,
      controlItemBgActive: chosen,
      controlItemBgActiveHover: chosenHover,
      colorLink: accent,
      // By itself it would be lighter than text may be on white.
      colorLinkHover: pick('#085454', '#7bd8d1'),
      colorLinkActive: pick('#085454', '#7bd8d1'),
      colorError: pick('#cf1322', '#ff7875'),
      colorTextPlaceholder: pick('#6b6b6b', '#8c8c8c'),
      colorTextDescription: faint,
      colorTextTertiary: faint,
      borderRadius: 6,
      fontFamily:
        '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans SC", "Noto Sans CJK SC", sans-serif',
    },
  }
}
