/** Debian's libfaketime, which gives a process its own clock. */
export const libfaketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

/**
 * The environment of a process whose clock is wrong by some time, such as `+1h`; durations are still measured
 * correctly.
 */
export const fakeClock = (by: string): Record<string, string> => ({
  LD_PRELOAD: libfaketime,
  FAKETIME: by,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  DONT_FAKE_MONOTONIC: '1',
})
