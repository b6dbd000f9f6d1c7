/** Preloaded into a process of the program, sets its clock wrong by FUNDFEED_TEST_CLOCK_SHIFT milliseconds. */
const shift = Math.round(Number(process.env.FUNDFEED_TEST_CLOCK_SHIFT ?? 0));
const rightNow = Date.now;
Date.now = () => rightNow() + shift;
