import { theme as antdTheme, ConfigProvider, type ThemeConfig } from 'antd'
import enUS from 'antd/locale/en_US'
import zhCN from 'antd/locale/zh_CN'
import dayjs from 'dayjs'
import 'dayjs/locale/zh-cn'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { useLanguage } from './language/index.ts'
import { Feedback } from './ui/feedback.tsx'

export type Shade = 'light' | 'dark' | 'system'
const storageKey = 'forecourt.shade'
/** The class of the elements that the theme's variables apply to. */
const variables = 'forecourt'
const darkScheme = '(prefers-color-scheme: dark)'

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
        // Ant Design would put a space between the characters of a two-character button.
        button={{ autoInsertSpace: false }}
        locale={language === 'zh' ? zhCN : enUS}
        theme={lookOf(isDark)}
      >
        <div className={`ground ${variables}`}>
          {children}
          <Feedback />
        </div>
      </ConfigProvider>
    </ShadeContext>
  )
}

/** The colours of light and dark; all text has the contrast of WCAG AA on its background. */
function lookOf(isDark: boolean): ThemeConfig {
  const pick = (light: string, dark: string) => (isDark ? dark : light)
  const accent = pick('#0b6e6e', '#4fc4bc')
  const chosen = pick('#e3f1f0', '#123a38')
  const chosenHover = pick('#d3e8e6', '#174845')
  const faint = pick('#595959', '#a6a6a6')
  return {
    // The style sheet is built in advance: generating it took a fifth of the time of each page.
    zeroRuntime: true,
    cssVar: { key: variables },
    algorithm: isDark ? antdTheme.darkAlgorithm : antdTheme.defaultAlgorithm,
    components: {
      Tabs: { itemSelectedColor: accent, itemHoverColor: accent, inkBarColor: accent },
      Button: {
        colorError: pick('#cf1322', '#ff7875'),
        colorErrorHover: pick('#a8071a', '#ffa39e'),
        // The primary colour's own hover is a background, too dark for text on the dark ground.
        defaultHoverColor: pick('#085454', accent),
        defaultHoverBorderColor: pick('#085454', accent),
        defaultActiveColor: pick('#085454', accent),
        defaultActiveBorderColor: pick('#085454', accent),
        // The text on a button of this colour.
        dangerColor: pick('#fff', '#1f0a0a'),
      },
    },
    token: {
      // If the user has switched off motion, nothing may wait for the end of an animation.
      motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
      // Dark enough for white text on it.
      colorPrimary: pick('#0b6e6e', '#0f7f7a'),
      colorInfo: pick('#0b6e6e', '#0f7f7a'),
      // The palettes derived from these colours are too grey for text on them.
      colorInfoBg: chosen,
      colorInfoBorder: chosenHover,
      colorPrimaryBg: chosen,
      colorPrimaryBgHover: chosenHover,
      controlItemBgActive: chosen,
      controlItemBgActiveHover: chosenHover,
      colorLink: accent,
      // The default is too light for text on white.
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
