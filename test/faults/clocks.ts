/** Debian's libfaketime, by which a process has a clock of its own. */
export const libfaketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

/** The environment of a process whose clock is off by some time, as `+1h`; how it measures durations stays right. */
export const fakeClock = (by: string): Record<string, string> => ({
  LD_PRELOAD: libfaketime,
  FAKETIME: by,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  DONT_FAKE_MONOTONIC: '1',
})
