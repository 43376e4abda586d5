import re,sys,subprocess
def parts(p):
    L=open(p).read().split('\n'); imp={}; 
    rest=[]
    for i,l in enumerate(L):
        m=re.match(r'(@_exported )?(public|package|internal) import (.*)$',l)
        if m: imp[m.group(3)]=m.group(2)
        else: rest.append(l)
    return imp,'\n'.join(rest).strip('\n')
rank={'public':2,'package':1,'internal':0}
def merge(target,*files):
    imp={};bodies=[]
    for f in files:
        i,b=parts(f)
        for k,v in i.items():
            if k not in imp or rank[v]>rank[imp[k]]: imp[k]=v
        bodies.append(b)
    head='\n'.join(f'{v} import {k}' for k,v in sorted(imp.items(),key=lambda x:x[0].lower()))
    for f in files[1:]: subprocess.run(['git','rm','-qf',f]) if subprocess.run(['git','ls-files','--error-unmatch',f],capture_output=True).returncode==0 else __import__('os').remove(f)
    open(files[0],'w').write((head+'\n\n' if head else '')+'\n\n'.join(bodies)+'\n')
    if target!=files[0]: subprocess.run(['git','mv',files[0],target],check=True)
if __name__=='__main__': merge(*sys.argv[1:])
