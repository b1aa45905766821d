//! Puts a module together: what the entry points reach, in the order that SPIR-V asks for.

use super::lines::Line;
use super::names::{self, Known};
use super::parts::{Declaration, Function, Instruction, Parts, ids};
use super::{Problem, Result, pass_of};
use motes::pass::PassInfo;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A whole module, and where its lines came from.
pub struct Text {
    pub text: String,
    pub used: BTreeSet<(String, usize)>,
}

/// Arithmetic that a device may fuse with other arithmetic unless it is told not to.
const FUSIBLE: &[&str] =
    &["OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFNegate", "OpVectorTimesScalar", "OpDot"];

struct Module<'a> {
    declared: HashMap<&'a str, &'a Declaration>,
    /// The element of each buffer's array.
    buffers: HashMap<String, String>,
    types: BTreeMap<Vec<String>, String>,
    remarks: Vec<String>,
    lines: Vec<String>,
    done: HashSet<String>,
    used: BTreeSet<(String, usize)>,
}

/// The text of a module.
pub fn text(shader: &str, parts: &Parts, common: &Parts) -> Result<Text> {
    let file = format!("spirv/{shader}.spvasm");
    let functions = reached(parts, &file)?;
    let pass = pass_of(shader);
    let own = parts.declarations.iter().map(|d| (d, true));
    let mut declared = HashMap::new();
    for (declaration, is_own) in own.chain(common.declarations.iter().map(|d| (d, false))) {
        let Some(id) = declaration.instruction.result.as_deref() else { continue };
        if let Some(other) = declared.insert(id, declaration).filter(|_| !is_own) {
            let what = format!("{id} stands in spirv/shared/names.spvasm");
            return Err(other.instruction.line.problem(what, "leave it out, or name it otherwise"));
        }
    }
    let mut module = Module {
        declared,
        buffers: HashMap::new(),
        types: BTreeMap::new(),
        remarks: Vec::new(),
        lines: Vec::new(),
        done: HashSet::new(),
        used: BTreeSet::new(),
    };

    if let Some(info) = pass {
        module.bind(info, &functions)?;
    }
    let mut bodies = Vec::new();
    for function in &functions {
        module.function(function, &mut bodies)?;
    }
    if pass.is_some() {
        module.unfuse(&functions);
    }
    module.remark(parts, &functions, &file)?;
    unused(parts, &functions, &module, &file)?;

    let mut out: Vec<String> = parts.head.iter().map(|l| l.text.clone()).collect();
    out.push("OpCapability Shader".into());
    let mut operands = functions.iter().flat_map(|f| &f.body).flat_map(|i| &i.operands);
    if operands.any(|operand| operand == "%glsl") {
        out.push("%glsl = OpExtInstImport \"GLSL.std.450\"".into());
    }
    out.push("OpMemoryModel Logical GLSL450".into());
    for (name, function) in &parts.entries {
        let model = match name.as_str() {
            _ if pass.is_some() => "GLCompute",
            "vertex" => "Vertex",
            _ => "Fragment",
        };
        if model == "Fragment" {
            module.remarks.push(format!("OpExecutionMode {function} OriginUpperLeft"));
        }
        let interface = module.interface(function, &functions);
        out.push(format!("OpEntryPoint {model} {function} \"{name}\"{interface}"));
    }
    // SPIR-V wants execution modes, then names, then decorations, then everything else.
    module.remarks.sort_by_key(|remark| match remark.split(' ').next() {
        Some("OpExecutionMode") => 0,
        Some("OpName" | "OpMemberName") => 1,
        _ => 2,
    });
    out.append(&mut module.remarks);
    out.append(&mut module.lines);
    out.append(&mut bodies);
    Ok(Text { text: out.join("\n") + "\n", used: module.used })
}

/// The functions that entry points call, in the order of the text.
fn reached<'a>(parts: &'a Parts, file: &str) -> Result<Vec<&'a Function>> {
    let by_name: HashMap<&str, &Function> =
        parts.functions.iter().map(|f| (f.name.as_str(), f)).collect();
    let problem = |what: String, remedy: &str| {
        Err(Problem { file: file.into(), line: 1, what, remedy: remedy.into() })
    };
    let mut reached: HashSet<&str> = HashSet::new();
    let mut open: Vec<&Function> = Vec::new();
    if parts.entries.is_empty() {
        return problem("it has no entry points".into(), "name them by `;@ entries ..`");
    }
    for (name, function) in &parts.entries {
        let Some(found) = by_name.get(function.as_str()) else {
            let what = format!("the entry point {name} has no function {function}");
            return problem(what, "write it, or correct the name");
        };
        open.push(found);
    }
    while let Some(function) = open.pop() {
        if !reached.insert(&function.name) {
            continue;
        }
        for call in function.body.iter().filter(|i| i.op == "OpFunctionCall") {
            let called = call.operands.get(1).map_or("", String::as_str);
            let Some(found) = by_name.get(called) else {
                let remedy = "write it, `use` the shared part that has it, or correct the name";
                return Err(call.line.problem(format!("no function is called {called}"), remedy));
            };
            open.push(found);
        }
    }
    Ok(parts.functions.iter().filter(|f| reached.contains(f.name.as_str())).collect())
}

/// Ids of pointers into buffers, and the buffers.
fn chains<'a>(functions: &[&'a Function]) -> impl Iterator<Item = (&'a Instruction, &'a str)> {
    let bodies = functions.iter().flat_map(|f| &f.body).collect::<Vec<_>>();
    let chain = |i: &&Instruction| i.op == "OpAccessChain" && i.operands.len() > 2;
    bodies.into_iter().filter(chain).map(|i| (i, i.operands[1].as_str()))
}

/// What a buffer is an array of: what pointers into it point to.
fn element(buffer: &str, functions: &[&Function]) -> Result<String> {
    let mut found: Option<String> = None;
    for (chain, base) in chains(functions) {
        if base != buffer {
            continue;
        }
        let to = chain.operands[0].strip_prefix("%ptr_buffer_").unwrap_or("");
        // A third index picks one number of a row.
        let element = match (chain.operands.len() - 2, to) {
            (2, "uint" | "float" | "vec4" | "uvec4") => to,
            (3, "float") => "vec4",
            (3, "uint") => "uvec4",
            _ => {
                let remedy = "point to %ptr_buffer_uint, _float or _vec4 by %u0 and an index";
                return Err(chain.line.problem(format!("no way into {buffer}"), remedy));
            }
        };
        if found.as_deref().is_some_and(|f| f != element) {
            let what = format!("{buffer} is an array of {} elsewhere", found.unwrap_or_default());
            return Err(chain.line.problem(what, "point to the same type everywhere"));
        }
        found = Some(element.into());
    }
    Ok(found.unwrap_or("uint".into()))
}

/// The buffers that functions write, and a line that does.
fn written<'a>(functions: &[&'a Function], bound: &[String]) -> HashMap<String, &'a Line> {
    let into: HashMap<&str, &str> = chains(functions)
        .filter_map(|(chain, base)| Some((chain.result.as_deref()?, base)))
        .collect();
    let mut found = HashMap::new();
    for i in functions.iter().flat_map(|f| &f.body) {
        let pointer = match i.op.as_str() {
            "OpStore" | "OpAtomicStore" => i.operands.first(),
            "OpAtomicLoad" => None,
            op if op.starts_with("OpAtomic") => i.operands.get(1),
            _ => None,
        };
        let Some(base) = pointer.and_then(|p| into.get(p.as_str())) else { continue };
        if bound.iter().any(|b| b == base) {
            found.entry(base.to_string()).or_insert(&i.line);
        }
    }
    found
}

impl Module<'_> {
    /// Declares the buffers of a pass, all of them, and the size of its workgroups.
    fn bind(&mut self, info: &PassInfo, functions: &[&Function]) -> Result<()> {
        let bound = names::buffers(info);
        let (written, allowed) = (written(functions, &bound), names::written(info));
        for (binding, id) in bound.iter().enumerate() {
            self.buffers.insert(id.clone(), element(id, functions)?);
            self.remarks.push(format!("OpName {id} \"{}\"", &id[1..]));
            self.remarks.push(format!("OpDecorate {id} DescriptorSet 0"));
            self.remarks.push(format!("OpDecorate {id} Binding {binding}"));
            match written.get(id) {
                None => self.remarks.push(format!("OpDecorate {id} NonWritable")),
                Some(line) if !allowed.contains(id) => {
                    let remedy =
                        format!("name it among the writes of {} in src/pass.rs", info.name);
                    return Err(line.problem(format!("{id} is written"), remedy));
                }
                Some(_) => {}
            }
        }
        bound.iter().try_for_each(|id| self.need(id, None))?;
        self.need("%workgroup_size", None)
    }

    /// Has every sum and product rounded by itself, as on the CPU.
    fn unfuse(&mut self, functions: &[&Function]) {
        let fusible = |i: &&Instruction| FUSIBLE.contains(&i.op.as_str());
        let found = functions.iter().flat_map(|f| &f.body).filter(fusible);
        let results = found.filter_map(|i| i.result.as_deref());
        self.remarks.extend(results.map(|id| format!("OpDecorate {id} NoContraction")));
    }

    /// Takes over what the text says of its ids. A shared part may speak of what is not used.
    fn remark(&mut self, parts: &Parts, functions: &[&Function], file: &str) -> Result<()> {
        for remark in &parts.remarks {
            let of = remark.operands.first().map_or("", String::as_str);
            let here = self.done.contains(of) || functions.iter().any(|f| f.name == of);
            if here {
                self.remarks.push(remark.line.text.clone());
            } else if remark.line.file == file {
                let remedy = "leave it out, or correct the name";
                return Err(remark.line.problem(format!("nothing uses {of}"), remedy));
            }
        }
        Ok(())
    }

    /// Declares an id and what it is made of.
    fn need(&mut self, id: &str, asked_by: Option<&Line>) -> Result<()> {
        if id == "%glsl" || self.done.contains(id) {
            return Ok(());
        }
        self.done.insert(id.to_string());
        if let Some(Declaration { instruction, comments }) = self.declared.get(id).copied() {
            for operand in ids(&instruction.operands) {
                self.need(operand, Some(&instruction.line))?;
            }
            for line in comments.iter().chain([&instruction.line]) {
                self.lines.push(line.text.clone());
                self.used.insert((line.file.clone(), line.number));
            }
            return Ok(());
        }
        let known = match self.buffers.get(id) {
            Some(element) => {
                let text =
                    format!("{id} = OpVariable %ptr_buffer_block_of_{element} StorageBuffer");
                Some(Known { text, remarks: Vec::new() })
            }
            None => names::known(id),
        };
        let Some(Known { text, remarks }) = known else {
            let remedy = match id.get(..3) {
                Some("%g_" | "%s_") => "declare the word in src/vulkan/layout.rs",
                _ => {
                    "correct the name, `use` the shared part that has it, or declare it: a word in \
                      src/vulkan/layout.rs, all else in the text"
                }
            };
            let what = format!("nothing is called {id}");
            let nowhere = Line { text: String::new(), file: "the driver".into(), number: 0 };
            return Err(asked_by.unwrap_or(&nowhere).problem(what, remedy));
        };
        let words: Vec<String> = text.split_whitespace().skip(2).map(str::to_string).collect();
        for operand in ids(&words) {
            self.need(operand, asked_by)?;
        }
        self.lines.push(text);
        self.remarks.extend(remarks);
        Ok(())
    }

    /// Declares what a function uses, and writes it with its type.
    fn function(&mut self, function: &Function, out: &mut Vec<String>) -> Result<()> {
        let local: HashSet<&str> =
            function.body.iter().filter_map(|i| i.result.as_deref()).collect();
        for instruction in &function.body {
            let operands = if instruction.op == "OpFunctionCall" {
                let (result, rest) = instruction.operands.split_at(1);
                result.iter().chain(&rest[1..]).cloned().collect()
            } else {
                instruction.operands.clone()
            };
            for id in ids(&operands).filter(|id| !local.contains(id)) {
                self.need(id, Some(&instruction.line))?;
            }
        }
        let head = &function.body[0];
        let parameter = |i: &&Instruction| i.op == "OpFunctionParameter";
        let parameters = function.body.iter().filter(parameter).map(|i| i.operands[0].clone());
        let [result] = &head.operands[..] else {
            let remedy = "write `%name = OpFunction %type`; the driver finds the rest";
            return Err(head.line.problem("a function has one operand, its result", remedy));
        };
        let signature: Vec<String> = [result.clone()].into_iter().chain(parameters).collect();
        let kind = self.function_type(signature);
        out.push(String::new());
        for line in &function.lines {
            self.used.insert((line.file.clone(), line.number));
            let is_head = line.number == head.line.number && line.text == head.line.text;
            out.push(if is_head {
                format!("{} None {kind}", line.text)
            } else {
                line.text.clone()
            });
        }
        Ok(())
    }

    fn function_type(&mut self, signature: Vec<String>) -> String {
        if let Some(name) = self.types.get(&signature) {
            return name.clone();
        }
        let words: Vec<&str> = signature.iter().map(|t| &t[1..]).collect();
        let name = format!("%fn_{}_of_{}", words[0], words[1..].join("_"));
        self.lines.push(format!("{name} = OpTypeFunction {}", signature.join(" ")));
        self.types.insert(signature, name.clone());
        name
    }

    /// The inputs and outputs that an entry point and what it calls use.
    fn interface(&self, entry: &str, functions: &[&Function]) -> String {
        let mut open = vec![entry];
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        while let Some(name) = open.pop() {
            let function = functions.iter().find(|f| f.name == name);
            let Some(function) = function.filter(|_| seen.insert(name)) else { continue };
            for i in &function.body {
                if i.op == "OpFunctionCall" {
                    open.push(&i.operands[1]);
                }
                for id in ids(&i.operands).filter(|id| self.is_interface(id)) {
                    if !found.contains(&id) {
                        found.push(id);
                    }
                }
            }
        }
        found.iter().map(|id| format!(" {id}")).collect()
    }

    fn is_interface(&self, id: &str) -> bool {
        let declared = self.declared.get(id).map(|d| d.instruction.line.text.clone());
        let text = declared.or_else(|| names::known(id).map(|k| k.text)).unwrap_or_default();
        let class = text.split(';').next().unwrap_or_default().split_whitespace().last();
        text.contains("= OpVariable ") && matches!(class, Some("Input" | "Output"))
    }
}

/// What a shader's own text declares, it uses.
fn unused(parts: &Parts, functions: &[&Function], module: &Module, file: &str) -> Result<()> {
    let own = |line: &Line| line.file == file;
    let declared = parts.declarations.iter().map(|d| &d.instruction);
    for i in declared.filter(|i| own(&i.line)) {
        if i.result.as_ref().is_some_and(|id| !module.done.contains(id)) {
            return Err(i.line.problem("nothing uses it", "leave it out"));
        }
    }
    for function in parts.functions.iter().filter(|f| own(&f.body[0].line)) {
        if !functions.iter().any(|f| f.name == function.name) {
            let what = format!("nothing calls {}", function.name);
            return Err(function.body[0].line.problem(what, "leave it out, or make it an entry"));
        }
    }
    Ok(())
}
