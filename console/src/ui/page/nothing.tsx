import { Empty } from 'antd'
import type { ReactNode } from 'react'

/** Says, in place of records, that there are none; its children are the next step. */
export function Nothing({ words, children }: { words: ReactNode; children?: ReactNode }) {
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={words}>
      {children}
    </Empty>
  )
}
