-- SPDX-License-Identifier: MIT
--[[
A dissector for Wireshark: messages of o2iblnd, the driver with which LNet, the network of Lustre, uses RDMA.
[Lustre, o2iblnd-idl.h and lnet-idl.h]

    tshark -X lua_script:o2iblnd.lua -r capture.pcapng -Y o2iblnd

It takes the payload of SENDs of RC, and the private data of REQ, REP and REJ of the connection manager.  Wireshark's
own dissector (lnet) reads little-endian messages that are in one packet.  This one reads both byte orders, rejects,
and messages of several packets, checks checksums, and prints a message in a few words.

tools/write_docs.py writes data/o2iblnd.lua from tools/pages/o2iblnd.lua and the rows of the lab; nobody edits the former.
]]

local MESSAGES = {[0xc0] = "CONNREQ", [0xc1] = "CONNACK", [0xd0] = "NOOP", [0xd1] = "IMMEDIATE", [0xd2] = "PUT_REQ", [0xd3] = "PUT_NAK", [0xd4] = "PUT_ACK", [0xd5] = "PUT_DONE", [0xd6] = "GET_REQ", [0xd7] = "GET_DONE"}
local OPS = {[0] = "ACK", [1] = "PUT", [2] = "GET", [3] = "REPLY", [4] = "HELLO"}
local WHYS = {[1] = "CONN_RACE", [2] = "NO_RESOURCES", [3] = "FATAL", [4] = "CONN_UNCOMPAT", [5] = "CONN_STALE", [6] = "RDMA_FRAGS", [7] = "MSG_QUEUE_SIZE", [8] = "INVALID_SRV_ID", [9] = "EARLY"}

-- The parts of messages: offset, bytes, form and title of each field.
local PARTS = {
    HEAD = {title = "o2iblnd", bytes = 48, little = false, rows = {
        {name = "magic", at = 0, bytes = 4, form = "HEX", title = "magic number"},
        {name = "version", at = 4, bytes = 2, form = "HEX", title = "version"},
        {name = "type", at = 6, bytes = 1, form = "MESSAGE", title = "type"},
        {name = "credits", at = 7, bytes = 1, form = "DEC", title = "credits returned"},
        {name = "nob", at = 8, bytes = 4, form = "DEC", title = "bytes of the message"},
        {name = "cksum", at = 12, bytes = 4, form = "HEX", title = "checksum"},
        {name = "src_nid", at = 16, bytes = 8, form = "NID", title = "source NID"},
        {name = "src_stamp", at = 24, bytes = 8, form = "HEX", title = "source incarnation"},
        {name = "dst_nid", at = 32, bytes = 8, form = "NID", title = "destination NID"},
        {name = "dst_stamp", at = 40, bytes = 8, form = "HEX", title = "destination incarnation"},
    }},
    CONN = {title = "o2iblnd connection", bytes = 8, little = false, rows = {
        {name = "queue_depth", at = 0, bytes = 2, form = "DEC", title = "queue depth"},
        {name = "max_frags", at = 2, bytes = 2, form = "DEC", title = "maximum fragments"},
        {name = "max_msg_size", at = 4, bytes = 4, form = "DEC", title = "maximum message size"},
    }},
    HDR = {title = "LNet", bytes = 32, little = true, rows = {
        {name = "dest_nid", at = 0, bytes = 8, form = "NID", title = "destination NID"},
        {name = "src_nid", at = 8, bytes = 8, form = "NID", title = "source NID"},
        {name = "dest_pid", at = 16, bytes = 4, form = "DEC", title = "destination process"},
        {name = "src_pid", at = 20, bytes = 4, form = "DEC", title = "source process"},
        {name = "op", at = 24, bytes = 4, form = "OP", title = "operation"},
        {name = "payload_bytes", at = 28, bytes = 4, form = "DEC", title = "bytes of the payload"},
    }},
    ACK = {title = "LNet ACK", bytes = 40, little = true, rows = {
        {name = "dst_interface", at = 0, bytes = 8, form = "HEX", title = "interface"},
        {name = "dst_object", at = 8, bytes = 8, form = "HEX", title = "object"},
        {name = "match_bits", at = 16, bytes = 8, form = "HEX", title = "match bits"},
        {name = "mlength", at = 24, bytes = 4, form = "DEC", title = "bytes taken"},
    }},
    PUT = {title = "LNet PUT", bytes = 40, little = true, rows = {
        {name = "ack_interface", at = 0, bytes = 8, form = "HEX", title = "ACK interface"},
        {name = "ack_object", at = 8, bytes = 8, form = "HEX", title = "ACK object"},
        {name = "match_bits", at = 16, bytes = 8, form = "HEX", title = "match bits"},
        {name = "hdr_data", at = 24, bytes = 8, form = "HEX", title = "header data"},
        {name = "portal", at = 32, bytes = 4, form = "DEC", title = "portal"},
        {name = "offset", at = 36, bytes = 4, form = "DEC", title = "offset"},
    }},
    GET = {title = "LNet GET", bytes = 40, little = true, rows = {
        {name = "return_interface", at = 0, bytes = 8, form = "HEX", title = "return interface"},
        {name = "return_object", at = 8, bytes = 8, form = "HEX", title = "return object"},
        {name = "match_bits", at = 16, bytes = 8, form = "HEX", title = "match bits"},
        {name = "portal", at = 24, bytes = 4, form = "DEC", title = "portal"},
        {name = "src_offset", at = 28, bytes = 4, form = "DEC", title = "source offset"},
        {name = "sink_bytes", at = 32, bytes = 4, form = "DEC", title = "bytes of the sink"},
    }},
    REPLY = {title = "LNet REPLY", bytes = 40, little = true, rows = {
        {name = "dst_interface", at = 0, bytes = 8, form = "HEX", title = "interface"},
        {name = "dst_object", at = 8, bytes = 8, form = "HEX", title = "object"},
    }},
    HELLO = {title = "LNet HELLO", bytes = 40, little = true, rows = {
        {name = "incarnation", at = 0, bytes = 8, form = "HEX", title = "incarnation"},
        {name = "type", at = 8, bytes = 4, form = "DEC", title = "type of the connection"},
    }},
    REQ = {title = "o2iblnd request", bytes = 8, little = false, rows = {
        {name = "cookie", at = 0, bytes = 8, form = "HEX", title = "cookie"},
    }},
    PUT_ACK = {title = "o2iblnd PUT_ACK", bytes = 16, little = false, rows = {
        {name = "src_cookie", at = 0, bytes = 8, form = "HEX", title = "cookie of the source"},
        {name = "dst_cookie", at = 8, bytes = 8, form = "HEX", title = "cookie of the sink"},
    }},
    DONE = {title = "o2iblnd completion", bytes = 12, little = false, rows = {
        {name = "cookie", at = 0, bytes = 8, form = "HEX", title = "cookie"},
        {name = "status", at = 8, bytes = 4, form = "STATUS", title = "status"},
    }},
    RD = {title = "o2iblnd descriptor", bytes = 8, little = false, rows = {
        {name = "key", at = 0, bytes = 4, form = "HEX", title = "key"},
        {name = "n_frags", at = 4, bytes = 4, form = "DEC", title = "fragments"},
    }},
    FRAG = {title = "o2iblnd fragment", bytes = 12, little = false, rows = {
        {name = "nob", at = 0, bytes = 4, form = "DEC", title = "bytes"},
        {name = "addr", at = 4, bytes = 8, form = "HEX", title = "address"},
    }},
    REJECT = {title = "o2iblnd reject", bytes = 24, little = false, rows = {
        {name = "magic", at = 0, bytes = 4, form = "HEX", title = "magic number"},
        {name = "version", at = 4, bytes = 2, form = "HEX", title = "version"},
        {name = "why", at = 6, bytes = 1, form = "WHY", title = "reason"},
        {name = "stamp", at = 8, bytes = 8, form = "HEX", title = "incarnation"},
        {name = "queue_depth", at = 16, bytes = 2, form = "DEC", title = "queue depth"},
        {name = "max_frags", at = 18, bytes = 2, form = "DEC", title = "maximum fragments"},
        {name = "max_msg_size", at = 20, bytes = 4, form = "DEC", title = "maximum message size"},
    }},
}

-- The parts behind the head of each message, with their offsets.
local BODIES = {
    [0xc0] = {{"CONN", 48}}, -- CONNREQ
    [0xc1] = {{"CONN", 48}}, -- CONNACK
    [0xd0] = {}, -- NOOP
    [0xd1] = {{"HDR", 48}}, -- IMMEDIATE
    [0xd2] = {{"HDR", 48}, {"REQ", 120}}, -- PUT_REQ
    [0xd3] = {{"DONE", 48}}, -- PUT_NAK
    [0xd4] = {{"PUT_ACK", 48}, {"RD", 64}}, -- PUT_ACK
    [0xd5] = {{"DONE", 48}}, -- PUT_DONE
    [0xd6] = {{"HDR", 48}, {"REQ", 120}, {"RD", 128}}, -- GET_REQ
    [0xd7] = {{"DONE", 48}}, -- GET_DONE
}
local PART_OF_OP = {[0] = "ACK", [1] = "PUT", [2] = "GET", [3] = "REPLY", [4] = "HELLO"}

local MAGIC, PROTO_MAGIC = 0x0be91b91, 0x45726963
local FRAGS_MAX, MESSAGE_MAX = 256, 4096
local REJECT_BYTES_1 = 7 -- of version 1
local REJ = 0x12 -- attribute ID
local FIRST = {[0x00] = true}
local ONLY = {[0x04] = true, [0x05] = true, [0x17] = true}
local MIDDLE = {[0x01] = true}
local LAST = {[0x02] = true, [0x03] = true, [0x16] = true}
local PSNS = 0x1000000

local o2iblnd = Proto("o2iblnd", "Lustre o2iblnd")

-- --- Fields: for each row of a part, o2iblnd.PART.NAME; of the head, o2iblnd.NAME ---

local MAKE = {
    DEC = function(abbr, title, bytes) return ProtoField["uint" .. 8 * bytes](abbr, title, base.DEC) end,
    HEX = function(abbr, title, bytes) return ProtoField["uint" .. 8 * bytes](abbr, title, base.HEX) end,
    NID = function(abbr, title) return ProtoField.string(abbr, title) end,
    STATUS = function(abbr, title) return ProtoField.int32(abbr, title) end,
    MESSAGE = function(abbr, title) return ProtoField.uint8(abbr, title, base.HEX, MESSAGES) end,
    OP = function(abbr, title) return ProtoField.uint32(abbr, title, base.DEC, OPS) end,
    WHY = function(abbr, title) return ProtoField.uint8(abbr, title, base.DEC, WHYS) end,
}

local fields = {}
for name, part in pairs(PARTS) do
    local prefix = name == "HEAD" and "o2iblnd." or "o2iblnd." .. name:lower() .. "."
    for _, row in ipairs(part.rows) do
        row.field = MAKE[row.form](prefix .. row.name, row.title, row.bytes)
        fields[#fields + 1] = row.field
    end
end
local f_payload = ProtoField.bytes("o2iblnd.payload", "payload")
local f_packets = ProtoField.uint32("o2iblnd.packets", "packets of the message")
fields[#fields + 1], fields[#fields + 2] = f_payload, f_packets
o2iblnd.fields = fields

local e_cksum = ProtoExpert.new("o2iblnd.bad_cksum", "wrong checksum", expert.group.CHECKSUM, expert.severity.ERROR)
local e_short = ProtoExpert.new("o2iblnd.short", "message ends early", expert.group.MALFORMED, expert.severity.ERROR)
local e_frags = ProtoExpert.new("o2iblnd.bad_frags", "no fragment, or more than 256", expert.group.PROTOCOL,
                                expert.severity.ERROR)
local e_type = ProtoExpert.new("o2iblnd.bad_type", "unknown version or type", expert.group.PROTOCOL, expert.severity.WARN)
o2iblnd.experts = {e_cksum, e_short, e_frags, e_type}

local bth_opcode = Field.new("infiniband.bth.opcode")
local bth_destqp = Field.new("infiniband.bth.destqp")
local bth_psn = Field.new("infiniband.bth.psn")
local mad_attribute = Field.new("infiniband.mad.attributeid")
local interface = Field.new("frame.interface_id")

-- --- Numbers ---

-- The number of at most 32 bits at @at of part @part; @big is the order of the sender.
local function number(tvb, at, bytes, big)
    local range = tvb(at, bytes)
    if big then return range:uint() end
    return range:le_uint()
end

local function nid_text(tvb, at, big)
    local net, index, ip
    if big then
        net, index, ip = tvb(at, 2):uint(), tvb(at + 2, 2):uint(), tvb(at + 4, 4):uint()
    else
        ip, index, net = tvb(at, 4):le_uint(), tvb(at + 4, 2):le_uint(), tvb(at + 6, 2):le_uint()
    end
    if net ~= 5 then
        local all = (net * 65536 + index) > 0 and string.format("%x%08x", net * 65536 + index, ip)
        return "0x" .. (all or string.format("%x", ip))
    end
    local octet = {}
    for i = 1, 4 do
        octet[5 - i] = string.format("%d", ip % 256)
        ip = math.floor(ip / 256)
    end
    return table.concat(octet, ".") .. "@o2ib" .. (index > 0 and string.format("%d", index) or "")
end

-- A number of 64 bits as "0x2a".
local function hex64(tvb, at, big)
    local high = number(tvb, big and at or at + 4, 4, big)
    local low = number(tvb, big and at + 4 or at, 4, big)
    return "0x" .. (high > 0 and string.format("%x%08x", high, low) or string.format("%x", low))
end

-- The sum of @n bytes, those of the field taken as 0: each is added as a signed number, after a rotation by one bit.
local function cksum(tvb, n)
    local sum = 0
    for i = 0, n - 1 do
        local byte = (i >= 12 and i < 16) and 0 or tvb(i, 1):int()
        sum = (2 * sum) % 0x100000000 + (sum >= 0x80000000 and 1 or 0)
        sum = (sum + byte) % 0x100000000
    end
    return sum == 0 and 1 or sum
end

-- --- One message ---

-- Adds the fields of part @name at @at.  Returns the tree item, or nil if the part is not complete.
local function add_part(tree, tvb, name, at, big)
    local part = PARTS[name]
    if at + part.bytes > tvb:len() then return nil end
    if part.little then big = false end
    local sub = tree:add(tvb(at, part.bytes), part.title)
    for _, row in ipairs(part.rows) do
        local range = tvb(at + row.at, row.bytes)
        if row.form == "NID" then
            sub:add(row.field, range, nid_text(tvb, at + row.at, big))
        elseif big then
            sub:add(row.field, range)
        else
            sub:add_le(row.field, range)
        end
    end
    return sub
end

-- Adds the fragments of a descriptor that ends at @at.  Returns the offset of their end, or nil if they are not complete.
local function add_frags(tree, tvb, at, n, big, item)
    if n == 0 or n > FRAGS_MAX then
        item:add_proto_expert_info(e_frags)
        n = math.min(n, FRAGS_MAX)
    end
    for i = 0, n - 1 do
        local sub = add_part(tree, tvb, "FRAG", at, big)
        if not sub then return nil end
        sub:append_text(string.format(" %d", i))
        at = at + PARTS.FRAG.bytes
    end
    return at
end

-- Adds the LNet header, and the part of its operation.
local function add_header(tree, tvb, at)
    if not add_part(tree, tvb, "HDR", at, false) then return nil end
    local op = PART_OF_OP[tvb(at + 24, 4):le_uint()]
    if op and not add_part(tree, tvb, op, at + PARTS.HDR.bytes, false) then return nil end
    return at + PARTS.HDR.bytes + 40
end

-- Adds the parts behind the head.  Returns the offset of their end, or nil if they are not complete.
local function add_body(tree, tvb, kind, big, item)
    local at = PARTS.HEAD.bytes
    for _, body in ipairs(BODIES[kind] or {}) do
        local name, begin = body[1], body[2]
        if name == "HDR" then
            at = add_header(tree, tvb, begin)
        else
            at = add_part(tree, tvb, name, begin, big) and begin + PARTS[name].bytes
        end
        if at and name == "RD" then
            at = add_frags(tree, tvb, at, number(tvb, begin + 4, 4, big), big, item)
        end
        if not at then return nil end
    end
    return at
end

-- The message in a few words, as the lab has it: "PUT_REQ credits=1 cookie=0x2a; PUT bytes=65536".
local function gist(tvb, kind, big)
    local words = {MESSAGES[kind] or string.format("type 0x%02x", kind)}
    local has = {}
    local function add(...) words[#words + 1] = string.format(...) end
    local function there(at, bytes) return at + bytes <= tvb:len() end
    for _, body in ipairs(BODIES[kind] or {}) do has[body[1]] = body[2] end

    if tvb(7, 1):uint() > 0 or kind == 0xd0 then add("credits=%d", tvb(7, 1):uint()) end
    if has.REQ and there(has.REQ, 8) then add("cookie=%s", hex64(tvb, has.REQ, big)) end
    if has.PUT_ACK and there(has.PUT_ACK, 16) then
        add("cookie=%s", hex64(tvb, has.PUT_ACK, big))
        add("dst_cookie=%s", hex64(tvb, has.PUT_ACK + 8, big))
    end
    if has.DONE and there(has.DONE, 12) then
        local status = number(tvb, has.DONE + 8, 4, big)
        add("cookie=%s", hex64(tvb, has.DONE, big))
        add("status=%d", status >= 0x80000000 and status - 0x100000000 or status)
    end
    local head = #words
    if has.HDR and there(has.HDR, 72) then
        local op = tvb(has.HDR + 24, 4):le_uint()
        local at = op == 2 and 64 or op == 0 and 56 or 28 -- a GET names its sink, an ACK what was taken
        add("%s", OPS[op] or "?")
        add("bytes=%d", tvb(has.HDR + at, 4):le_uint())
    end
    if has.RD and there(has.RD, 8) then add("frags=%d", number(tvb, has.RD + 4, 4, big)) end
    if has.CONN and there(has.CONN, 8) then
        add("depth=%d", number(tvb, has.CONN, 2, big))
        add("frags=%d", number(tvb, has.CONN + 2, 2, big))
    end
    if #words > head then words[head] = words[head] .. ";" end
    return table.concat(words, " ")
end

local function add_cksum(item, tvb, nob, sum)
    if sum == 0 then
        item:append_text(", no checksum")
    elseif nob > tvb:len() or nob < PARTS.HEAD.bytes then
        item:append_text(", checksum not verified")
    elseif cksum(tvb, nob) == sum then
        item:append_text(", checksum correct")
    else
        item:add_proto_expert_info(e_cksum, string.format("wrong checksum: these bytes have 0x%08x", cksum(tvb, nob)))
    end
end

-- Adds the message in @tvb, of which later packets have the rest if @is_first.
local function add_message(tvb, pinfo, tree, is_first, n_packets)
    local big = tvb(0, 4):uint() == MAGIC
    local kind = tvb(6, 1):uint()
    local item = tree:add(o2iblnd, tvb())
    pinfo.cols.protocol = "o2iblnd"
    if tvb:len() < PARTS.HEAD.bytes then
        item:add_proto_expert_info(e_short)
        return
    end
    local version = number(tvb, 4, 2, big)
    local nob, sum = number(tvb, 8, 4, big), number(tvb, 12, 4, big)
    local words = gist(tvb, kind, big)
    item:append_text(": " .. words)
    pinfo.cols.info = words
    add_part(item, tvb, "HEAD", 0, big)
    if n_packets then item:add(f_packets, n_packets):set_generated() end
    if (version ~= 0x11 and version ~= 0x12) or not MESSAGES[kind] then
        item:add_proto_expert_info(e_type)
        return
    end
    add_cksum(item, tvb, nob, sum)
    local at = add_body(item, tvb, kind, big, item)
    if (not at or nob > tvb:len()) and not is_first then item:add_proto_expert_info(e_short) end
    if at and kind == 0xd1 and at < math.min(nob, tvb:len()) then
        item:add(f_payload, tvb(at, math.min(nob, tvb:len()) - at))
    end
end

-- --- Messages of several packets ---

local streams = {} -- by interface, addresses and destination queue pair: the message that has begun
local whole = {} -- by the frame of its last packet: the bytes of a message, and the number of packets

function o2iblnd.init()
    streams, whole = {}, {}
end

local function key_of(pinfo)
    local port = interface()
    return table.concat({port and port.value or 0, tostring(pinfo.src), tostring(pinfo.dst), bth_destqp().value}, " ")
end

-- Takes the bytes of a packet that is not the only one of its message.  Keeps the message at its last packet.
local function take(tvb, pinfo, opcode)
    local key, psn = key_of(pinfo), bth_psn().value
    local s = streams[key]
    if FIRST[opcode] then
        streams[key] = {bytes = tvb:bytes(), psn = psn, n = 1}
        return
    end
    if not s or psn ~= (s.psn + 1) % PSNS then
        return -- a retransmission, or packets are missing
    end
    if s.bytes:len() + tvb:len() > MESSAGE_MAX then
        streams[key] = nil
        return
    end
    s.bytes:append(tvb:bytes())
    s.psn, s.n = psn, s.n + 1
    if LAST[opcode] then
        whole[pinfo.number] = s
        streams[key] = nil
    end
end

-- --- Where messages are ---

local function is_message(tvb)
    return tvb:len() >= 7 and (tvb(0, 4):uint() == MAGIC or tvb(0, 4):le_uint() == MAGIC)
end

local function payload(tvb, pinfo, tree)
    local opcode = bth_opcode()
    opcode = opcode and opcode.value
    if ONLY[opcode] or FIRST[opcode] then
        if not is_message(tvb) then
            streams[key_of(pinfo)] = nil
            return false
        end
        if FIRST[opcode] and not pinfo.visited then take(tvb, pinfo, opcode) end
        add_message(tvb, pinfo, tree, FIRST[opcode])
        return true
    end
    if not MIDDLE[opcode] and not LAST[opcode] then return false end
    if not pinfo.visited then take(tvb, pinfo, opcode) end
    local s = whole[pinfo.number]
    if not s then return false end
    add_message(ByteArray.tvb(s.bytes, "o2iblnd message"), pinfo, tree, false, s.n)
    return true
end

-- Whether the reject at the beginning of @tvb has its magic number in this order.
local function has_magic(magic) return magic == MAGIC or magic == PROTO_MAGIC end

local function add_reject(tvb, pinfo, tree)
    local big = has_magic(tvb(0, 4):uint())
    local why = tvb(6, 1):uint()
    local item = tree:add(o2iblnd, tvb())
    pinfo.cols.protocol = "o2iblnd"
    pinfo.cols.info = "reject " .. (WHYS[why] or string.format("%d", why))
    item:append_text(": " .. tostring(pinfo.cols.info))
    add_part(item, tvb, "REJECT", 0, big)
end

local function private_data(tvb, pinfo, tree)
    local attribute = mad_attribute()
    if attribute and attribute.value == REJ then
        if tvb:len() < REJECT_BYTES_1 then return false end
        if not has_magic(tvb(0, 4):uint()) and not has_magic(tvb(0, 4):le_uint()) then return false end
        add_reject(tvb, pinfo, tree)
        return true
    end
    if not is_message(tvb) then return false end
    add_message(tvb, pinfo, tree, false)
    return true
end

o2iblnd:register_heuristic("infiniband.payload", payload)
o2iblnd:register_heuristic("infiniband.mad.cm.private", private_data)
