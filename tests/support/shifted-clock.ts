/** Preloaded into a process, adds FUNDFEED_TEST_CLOCK_SHIFT milliseconds to its clock. */
const shiftMs = Math.round(Number(process.env.FUNDFEED_TEST_CLOCK_SHIFT ?? 0));
const realNow = Date.now;
Date.now = () => realNow() + shiftMs;
