import { TextBlock } from './text-block.tsx'

/** A record as the API answers it. */
export function RecordJson({ record }: { record: unknown }) {
  return <TextBlock text={JSON.stringify(record, null, 2)} />
}
