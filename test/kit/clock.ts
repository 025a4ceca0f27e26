/** Debian's libfaketime, which gives a process its own clock. */
export const libfaketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

const faked = { LD_PRELOAD: libfaketime, FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' }

/**
 * The environment of a process whose clock is wrong by some time, such as `+1h`; durations are still measured
 * correctly.
 */
export const fakeClock = (by: string): Record<string, string> => ({ ...faked, FAKETIME: by })

/** The same for a clock that is moved while the process runs: the file holds how far, such as `+8d`. */
export const movedClock = (file: string): Record<string, string> => ({
  ...faked,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: '1',
})
