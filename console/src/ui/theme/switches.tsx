import { BulbOutlined, GlobalOutlined } from '@ant-design/icons'
import { useSignal } from '../../browser/hooks.ts'
import { chooseShade, type Shade, shade } from '../../browser/shade.ts'
import { chooseLanguage, defineTexts, type Language, useLanguage } from '../../language/index.ts'
import { Dropdown } from '../dialog/dropdown.tsx'
import { Button } from '../page/button.tsx'

const useTexts = defineTexts({
  language: ['Language', '语言'],
  shade: ['Appearance', '外观'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  system: ['System', '跟随系统'],
})

export function LanguageSwitch() {
  const t = useTexts()
  const language = useLanguage()
  return (
    <Dropdown
      menu={{
        selectedKeys: [language],
        items: [
          { key: 'zh', label: '中文' },
          { key: 'en', label: 'English' },
        ],
        onClick: ({ key }) => chooseLanguage(key as Language),
      }}
    >
      <Button
        type="text"
        icon={<GlobalOutlined />}
        aria-label={`${language === 'zh' ? '中文' : 'EN'} ${t('language')}`}
      >
        {language === 'zh' ? '中文' : 'EN'}
      </Button>
    </Dropdown>
  )
}

export function ShadeSwitch() {
  const t = useTexts()
  const chosen = useSignal(shade)
  return (
    <Dropdown
      menu={{
        selectedKeys: [chosen],
        items: (['light', 'dark', 'system'] as const).map((key) => ({ key, label: t(key) })),
        onClick: ({ key }) => chooseShade(key as Shade),
      }}
    >
      <Button type="text" icon={<BulbOutlined />} aria-label={t('shade')} />
    </Dropdown>
  )
}
