import { bodyTooLarge } from './message.ts'

/** In one buffer, because a list of pieces of one byte would take fifty times more. */
export class Pieces {
  size = 0
  private bytes: Uint8Array = new Uint8Array()

  add(piece: Uint8Array): void {
    const size = this.size + piece.byteLength
    if (this.size === 0) {
      // Most bodies are in one piece.
      this.bytes = piece
    } else {
      if (size > this.bytes.byteLength) {
        const larger = new Uint8Array(Math.max(size, this.bytes.byteLength * 2))
        larger.set(this.whole)
        this.bytes = larger
      }
      this.bytes.set(piece, this.size)
    }
    this.size = size
  }

  get whole(): Uint8Array {
    return this.bytes.subarray(0, this.size)
  }
}

/** Throws `bodyTooLarge` past `limitBytes`. */
export async function collect(pieces: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const kept = new Pieces()
  for await (const piece of pieces) {
    if (kept.size + piece.byteLength > limitBytes) throw bodyTooLarge(limitBytes)
    kept.add(piece)
  }
  return kept.whole
}
