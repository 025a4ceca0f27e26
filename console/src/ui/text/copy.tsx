import { copyText } from '../../browser/copying.ts'
import { defineTexts } from '../../language/index.ts'
import { showQuestion, showSuccess } from '../dialog/feedback.tsx'

const useTexts = defineTexts({
  byHand: ['Copy it with Ctrl+C', '请按 Ctrl+C 复制'],
  why: ['The browser doesn’t let this page copy the text.', '浏览器不允许此页面复制文本。'],
})

/** Returns the function that every button to copy calls. Where the browser refuses, it shows the text, selected. */
export function useCopy(): (text: string) => Promise<boolean> {
  const t = useTexts()
  return async (text) => {
    const isCopied = await copyText(text)
    if (isCopied) showSuccess(t('copied'))
    else {
      showQuestion({
        title: t('byHand'),
        content: (
          <>
            <p>{t('why')}</p>
            <textarea
              ref={(field) => field?.select()}
              className="copy-text mono"
              aria-label={t('byHand')}
              readOnly
              rows={8}
              defaultValue={text}
            />
          </>
        ),
        okText: t('close'),
      })
    }
    return isCopied
  }
}
