import { TextBlock } from './text-block.tsx'

/** A record as the API returns it, in JSON. */
export function RecordJson({ record }: { record: unknown }) {
  return <TextBlock text={JSON.stringify(record, null, 2)} />
}
