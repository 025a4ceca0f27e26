import { theme as antdTheme, type ThemeConfig } from 'antd'

/** What a look depends on. */
export interface LookOptions {
  isDark: boolean
  /** Whether parts may move. If the user has switched off motion, nothing may wait for the end of an animation. */
  motion: boolean
}

/** The colours and measures of antd's components; all text has the contrast of WCAG AA on its background. */
export function lookOf({ isDark, motion }: LookOptions): ThemeConfig {
  const pick = (light: string, dark: string) => (isDark ? dark : light)
  const accent = pick('#0b6e6e', '#4fc4bc')
  const chosen = pick('#e3f1f0', '#123a38')
  const chosenHover = pick('#d3e8e6', '#174845')
  const faint = pick('#595959', '#a6a6a6')
  return {
    algorithm: isDark ? antdTheme.darkAlgorithm : antdTheme.defaultAlgorithm,
    token: {
      motion,
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
      // Each name that a machine does not have costs a search for it.
      fontFamily: '-apple-system, "Segoe UI", Arial, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif',
    },
  }
}
