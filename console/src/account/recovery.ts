/** The account page shows a note when this many recovery codes or fewer are left. */
export const fewCodes = 2

/** Whether what was entered as a code is a recovery code: those of a generator have six digits. */
export const isRecoveryCode = (code: string | undefined): boolean => (code ?? '').replace(/[\s-]/g, '').length > 6
