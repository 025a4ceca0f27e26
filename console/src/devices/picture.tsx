import { PictureOutlined } from '@ant-design/icons'
import { useState } from 'react'
import { defineTexts } from '../language/index.ts'

const useTexts = defineTexts({
  noPicture: ['No picture', '无图片'],
  notLoaded: ['Couldn’t load the picture', '图片无法加载'],
})

interface PictureProps {
  url: string | null
  alt: string
  size: number
}

/** An external picture, or an icon if there is none or it does not load. */
export function Picture({ url, alt, size }: PictureProps) {
  const t = useTexts()
  const [isBroken, setBroken] = useState(false)
  const frame = {
    width: size,
    height: size,
    flex: 'none',
    border: '1px solid var(--line)',
    borderRadius: 6,
    background: 'var(--ground)',
  }
  if (url === null || url === '' || isBroken) {
    const words = isBroken ? t('notLoaded') : t('noPicture')
    return (
      <span
        role="img"
        aria-label={words}
        title={words}
        className="faint"
        style={{ ...frame, display: 'inline-grid', placeItems: 'center', fontSize: size / 3 }}
      >
        <PictureOutlined aria-hidden />
      </span>
    )
  }
  return (
    <img
      src={url}
      alt={alt}
      width={size}
      height={size}
      loading="lazy"
      referrerPolicy="no-referrer"
      style={{ ...frame, objectFit: 'contain' }}
      onError={() => setBroken(true)}
    />
  )
}
