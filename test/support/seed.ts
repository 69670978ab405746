/** The seed of the random tests: fixed, so that a run can be repeated, unless ICEPLAN_SEED says otherwise. */
export const SEED = Number(process.env.ICEPLAN_SEED ?? 20_250_101)

/** For the titles of random tests, so that every report says which cases were tried. */
export const WITH_SEED = `(ICEPLAN_SEED=${SEED})`
