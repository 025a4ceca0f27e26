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
