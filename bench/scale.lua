-- Requests for wrk: paths from the lines of the first file, keys from the second, each in turn.
-- At the end it prints a line for bench/scale.ts: requests, requests per second, p99 in ms.
local requests, turn = {}, 0

local function linesOf(name)
  local lines = {}
  for line in io.lines(name) do lines[#lines + 1] = line end
  return lines
end

function init(args)
  local paths, keys = linesOf(args[1]), linesOf(args[2])
  local base = wrk.path
  for i = 1, math.max(#paths, #keys) do
    local headers = { Host = wrk.headers["Host"], Authorization = "Bearer " .. keys[(i - 1) % #keys + 1] }
    requests[i] = wrk.format("GET", base .. paths[(i - 1) % #paths + 1], headers)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  io.write(string.format("sum %d %.1f %.2f\n", summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000))
end
